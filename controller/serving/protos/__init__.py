"""The wire formats of TensorFlow Serving that this project speaks, trimmed; the `_pb2` modules are generated."""
