"""The metric families of the real server, by internal path: type, labels in order, bucket edges, when they appear."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What the TYPE line says."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """One family. `edges` are the finite bucket bounds; `late`: not even its TYPE line exists before first use."""

    path: str
    kind: Kind
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    late: bool = False


def exponential(scale: float, growth: float, size: int) -> tuple[float, ...]:
    """The `size` finite bounds `scale * growth**i`, multiplied up step by step as the real server does."""
    edges = [scale]
    while len(edges) < size:
        edges.append(edges[-1] * growth)
    return tuple(edges)


LATENCY_US = exponential(10, 1.8, 33)
QUEUING_US = exponential(100, 1.2, 52)
BATCH_ROWS = exponential(1, 2, 14)
GRAPH_RUN_US = exponential(1000, 2, 20)
TENSOR_BYTES = exponential(1, 4, 14)

SERVING = "/tensorflow/serving/"
SESSION = "/tensorflow/serving/batching_session/"
CORE = "/tensorflow/core/"
SAVED_MODEL = "/tensorflow/cc/saved_model/"

REQUEST_COUNT = Family(SERVING + "request_count", Kind.COUNTER, ("model_name", "status"))
REQUEST_LATENCY = Family(SERVING + "request_latency", Kind.HISTOGRAM, ("model_name", "API", "entrypoint"), LATENCY_US)
RUNTIME_LATENCY = Family(SERVING + "runtime_latency", Kind.HISTOGRAM, ("model_name", "API", "runtime"), LATENCY_US)
QUEUING_LATENCY = Family(SESSION + "queuing_latency", Kind.HISTOGRAM, ("thread_pool_name",), QUEUING_US)
WRAPPED_RUN_COUNT = Family(SESSION + "wrapped_run_count", Kind.COUNTER)
INPUT_BATCH_SIZE = Family(SESSION + "input_batch_size", Kind.HISTOGRAM, (), BATCH_ROWS, late=True)
PROCESSED_BATCH_SIZE = Family(SESSION + "processed_batch_size", Kind.HISTOGRAM, (), BATCH_ROWS, late=True)
PADDING_SIZE = Family(SESSION + "padding_size", Kind.HISTOGRAM, ("execution_batch_size",), BATCH_ROWS, late=True)
LOAD_ATTEMPT_COUNT = Family(SAVED_MODEL + "load_attempt_count", Kind.COUNTER, ("model_path", "status"))
LOAD_LATENCY = Family(SAVED_MODEL + "load_latency", Kind.COUNTER, ("model_path",))
LOAD_LATENCY_BY_STAGE = Family(
    SAVED_MODEL + "load_latency_by_stage", Kind.HISTOGRAM, ("model_path", "stage"), LATENCY_US
)
GRAPH_RUNS = Family(CORE + "graph_runs", Kind.COUNTER)
GRAPH_RUN_TIME = Family(CORE + "graph_run_time_usecs", Kind.COUNTER)
GRAPH_RUN_TIME_HISTOGRAM = Family(CORE + "graph_run_time_usecs_histogram", Kind.HISTOGRAM, (), GRAPH_RUN_US)
GRAPH_INPUT_BYTES = Family(CORE + "graph_run_input_tensor_bytes", Kind.HISTOGRAM, (), TENSOR_BYTES)
GRAPH_OUTPUT_BYTES = Family(CORE + "graph_run_output_tensor_bytes", Kind.HISTOGRAM, (), TENSOR_BYTES)
GRAPH_BUILD_CALLS = Family(CORE + "graph_build_calls", Kind.COUNTER)
GRAPH_BUILD_TIME = Family(CORE + "graph_build_time_usecs", Kind.COUNTER)
DIRECT_SESSION_RUNS = Family(CORE + "direct_session_runs", Kind.COUNTER)
SESSION_CREATED = Family(CORE + "session_created", Kind.GAUGE)

IDLE = (
    Family("/tensorflow/api/op/using_fake_quantization", Kind.GAUGE),
    Family(CORE + "bfc_allocator_delay", Kind.COUNTER),
    Family(CORE + "graph_pending_queue_length_histogram", Kind.HISTOGRAM, (), exponential(1, 1.5, 30)),
    Family(CORE + "graph_optimization_usecs", Kind.COUNTER, ("kind", "name")),
    Family(CORE + "graph_unused_outputs", Kind.COUNTER, ("name",)),
    Family(CORE + "saved_model/read/api", Kind.COUNTER, ("api_label",)),
    Family(CORE + "saved_model/read/count", Kind.COUNTER, ("write_version",)),
    Family(CORE + "xla_compilation_time_usecs", Kind.COUNTER),
    Family(CORE + "xla_compilations", Kind.COUNTER),
    Family(SERVING + "mlmd_map", Kind.GAUGE, ("model_name", "version")),
    Family(SERVING + "model_warmup_latency", Kind.HISTOGRAM, ("model_path", "status"), LATENCY_US),
    Family(SERVING + "model_warmup_records_read", Kind.COUNTER, ("model_path", "status")),
    Family(SERVING + "request_example_count_total", Kind.COUNTER, ("model",)),
    Family(SERVING + "request_example_counts", Kind.HISTOGRAM, ("model",), exponential(1, 2, 15)),
    Family(SERVING + "request_log_count", Kind.COUNTER, ("model_name", "status_code")),
)
"""Families that the stand-in never fills: their TYPE line stands alone, as on a real server that has no such events."""

FILLED = (
    REQUEST_COUNT,
    REQUEST_LATENCY,
    RUNTIME_LATENCY,
    QUEUING_LATENCY,
    WRAPPED_RUN_COUNT,
    INPUT_BATCH_SIZE,
    PROCESSED_BATCH_SIZE,
    PADDING_SIZE,
    LOAD_ATTEMPT_COUNT,
    LOAD_LATENCY,
    LOAD_LATENCY_BY_STAGE,
    GRAPH_RUNS,
    GRAPH_RUN_TIME,
    GRAPH_RUN_TIME_HISTOGRAM,
    GRAPH_INPUT_BYTES,
    GRAPH_OUTPUT_BYTES,
    GRAPH_BUILD_CALLS,
    GRAPH_BUILD_TIME,
    DIRECT_SESSION_RUNS,
    SESSION_CREATED,
)
FAMILIES = tuple(sorted((*FILLED, *IDLE), key=lambda family: family.path))
"""Every family, in the order of the page: by internal path."""
