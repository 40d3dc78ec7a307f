"""A stand-in for TensorFlow Serving: its REST and gRPC surface, its batching and its metric page, with answers known in advance.

A request's way: `http_connection` or `grpc_calls` → `service` (gate, script) → `rest_predict` or `grpc_predict` → `runner`
(model, batching) → `service.answer` → log, counts, metric page.
"""
