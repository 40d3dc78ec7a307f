"""A stand-in for TensorFlow Serving: its REST and gRPC surface, batching and metric page; its answers can be scripted.

A request's way: `http_connection` or `grpc_calls` → `service` (gate, script) → `rest_inference` or `grpc_calls` →
`runner` (model, batching) → `service` (the moment of the answer, log, counts, metric page).
"""
