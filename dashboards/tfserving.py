"""Names and buckets of TensorFlow Serving's metrics, as the server writes them; only those that panels use."""

from __future__ import annotations

from dataclasses import dataclass

from exporters.metric import Metric


@dataclass(frozen=True, slots=True)
class Buckets:
    """Bounds `first * growth^i` in seconds."""

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

PADDING = Metric(
    ":tensorflow:serving:batching_session:padding_size",
    "histogram",
    "Rows that were added to an executed batch to reach an allowed size.",
    ("execution_batch_size",),
)
LOADS = Metric(
    ":tensorflow:cc:saved_model:load_attempt_count",
    "counter",
    "Loads of a SavedModel, by folder (which ends in the version) and how they ended.",
    ("model_path", "status"),
)
LOAD_TIME = Metric(
    ":tensorflow:cc:saved_model:load_latency",
    "counter",
    "Microseconds that loads of a SavedModel took, summed up.",
    ("model_path",),
)
WARMUP = Metric(
    ":tensorflow:serving:model_warmup_latency",
    "histogram",
    "Microseconds that replaying the warm-up file took.",
    ("model_path", "status"),
)
GRAPH_RUNS = Metric(":tensorflow:core:graph_runs", "counter", "Runs of the model's graph.")
GRAPH_TIME = Metric(":tensorflow:core:graph_run_time_usecs", "counter", "Microseconds of graph runs, summed up.")

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above."""

LATENCY_BUCKETS = Buckets(1e-5, 1.8)
"""Of request and runtime latency: a quantile can be 80 % too high or 44 % too low."""

QUEUE_BUCKETS = Buckets(1e-4, 1.2)
"""Of the queue's latency: 20 % too high or 17 % too low; everything above 1.09 s is in one bucket."""
