"""Names and buckets of TensorFlow Serving's metrics, as the server writes them; only those that panels use."""

from __future__ import annotations

from dataclasses import dataclass

from exporters.metric import Metric


@dataclass(frozen=True, slots=True)
class Buckets:
    """Bounds `first * growth^i` in the metric's own unit."""

    first: float
    growth: float


REQUESTS = Metric(
    ":tensorflow:serving:request_count",
    "counter",
    "Requests by canonical status; status and metadata requests count as well.",
    ("model_name", "status"),
)
REQUEST_LATENCY = Metric(
    ":tensorflow:serving:request_latency",
    "histogram",
    "Microseconds inside the server, successful requests only; an empty API label marks status and metadata.",
    ("model_name", "API", "entrypoint"),
)
RUNTIME_LATENCY = Metric(
    ":tensorflow:serving:runtime_latency",
    "histogram",
    "Microseconds of the blocking session run, with the wait in the batch queue when batching is on.",
    ("model_name", "API", "runtime"),
)
QUEUE_LATENCY = Metric(
    ":tensorflow:serving:batching_session:queuing_latency",
    "histogram",
    "Microseconds that a task waited in the batch queue.",
)
BATCH_SIZE = Metric(
    ":tensorflow:serving:batching_session:processed_batch_size",
    "histogram",
    "Rows of an executed batch, after padding.",
)
BATCHES = Metric(":tensorflow:serving:batching_session:wrapped_run_count", "counter", "Batches executed.")

ALL = (REQUESTS, REQUEST_LATENCY, RUNTIME_LATENCY, QUEUE_LATENCY, BATCH_SIZE, BATCHES)
"""Every metric above."""

LATENCY_BUCKETS = Buckets(10, 1.8)
"""Of request and runtime latency: a quantile can be 80 % too high or 44 % too low."""

QUEUE_BUCKETS = Buckets(100, 1.2)
"""Of the queue's latency: 20 % too high or 17 % too low; everything above 1.09 s is in one bucket."""
