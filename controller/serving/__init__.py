"""TensorFlow Serving's gRPC interface as a client sees it: messages, and requests built from a plan's payloads."""
