"""Where does a request's time go, from the client's clock to the model and back?"""

from __future__ import annotations

from dashboards import palette, recorded, tfserving
from dashboards.panel import Threshold, Unit
from dashboards.panels.arrivals import LATENESS
from dashboards.panels.client import CLOSED_LOOP
from dashboards.panels.server import INFERENCE, NO_BATCHING, NO_SERVER, SECONDS, quantile_with_bounds
from dashboards.panels.shapes import HALF, coloured, lines, now
from dashboards.promql import (
    Expr,
    count,
    divide,
    equal,
    mean,
    mean_quotient,
    not_below,
    or_else,
    rate,
    scale,
    subtract,
    sum_by,
)
from dashboards.variables import OF_GENERATOR, OF_MODEL, OF_SERVER
from exporters.names import loadgen

CLIENT = mean(loadgen.DURATION, equal("outcome", "ok"), OF_GENERATOR)
REQUEST = scale(mean(tfserving.REQUEST_LATENCY, *INFERENCE), SECONDS)
RUNTIME = scale(mean(tfserving.RUNTIME_LATENCY, *INFERENCE), SECONDS)
QUEUE = scale(mean(tfserving.QUEUE_LATENCY, OF_SERVER), SECONDS)
MODEL_ONLY = or_else(not_below(subtract(RUNTIME, QUEUE), 0), RUNTIME)
"""Without batching there is no queue, and runtime is all model."""

NETWORK = not_below(subtract(CLIENT, REQUEST), 0)
FRONT = not_below(subtract(REQUEST, RUNTIME), 0)

STACK = lines(
    30,
    "time-stack",
    "A good answer's time, part by part",
    "Where does the mean answer spend its time, from when it was meant to be sent? Means of sum over count, which add "
    "up; quantiles do not. Runtime without the batch queue is the model.",
    "the network's part grows with the load: the server's threads are all busy, requests wait before it counts. The "
    "queue's part grows: too few batch threads.",
    Unit.SECONDS,
    coloured("A", MODEL_ONLY, "model", palette.GOOD, NO_SERVER),
    coloured("B", QUEUE, "batch queue", palette.ORANGE, NO_BATCHING),
    coloured("C", FRONT, "server, outside the model", palette.BLUE, NO_SERVER),
    coloured("D", NETWORK, "network, client, and waiting for a server thread", palette.VIOLET, NO_SERVER),
    coloured("E", LATENESS, "sent too late (open loop)", palette.PINK, CLOSED_LOOP),
    stacked=True,
    height=10,
)

NETWORK_SHARE = now(
    31,
    "network-share",
    "Outside the server",
    "Which share of the client's time does the server not see?",
    "more than half: look at network, serialisation and the server's thread pools before the model.",
    Unit.SHARE,
    divide(NETWORK, CLIENT),
    absent=NO_SERVER,
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.5, palette.WARN)),
    decimals=0,
    width=6,
)
QUEUE_SHARE = now(
    32,
    "queue-share",
    "Batch queue",
    "Which share of the server's time do requests wait for their batch?",
    "more than half: more batch threads, or a shorter batch timeout.",
    Unit.SHARE,
    divide(QUEUE, REQUEST),
    absent=NO_BATCHING,
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.5, palette.WARN)),
    decimals=0,
    no_value="no batching",
    width=6,
)
PADDING_SHARE = now(
    33,
    "padding-share",
    "Padding",
    "Which share of the rows that the model computes is padding?",
    "more than a quarter: the allowed batch sizes do not fit the load.",
    Unit.SHARE,
    mean_quotient(tfserving.PADDING, tfserving.BATCH_SIZE, OF_SERVER),
    absent=NO_BATCHING,
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.25, palette.WARN)),
    decimals=0,
    no_value="no batching",
    width=6,
)
IN_SERVER = now(
    34,
    "in-server",
    "In the server",
    "How many inferences are inside the server at once, by Little's law?",
    "near the server's number of threads: more requests have to wait outside.",
    Unit.COUNT,
    scale(sum_by(rate(Expr(f"{tfserving.REQUEST_LATENCY.name}_sum{{{', '.join(INFERENCE)}}}"))), SECONDS),
    absent=NO_SERVER,
    decimals=1,
    width=6,
)

BY_MODEL = lines(
    35,
    "request-mean-by-model",
    "Request in the server, mean by model and entry point",
    "How long does the server take for each model, over REST and over gRPC?",
    "far longer over REST than over gRPC for the same model: JSON is the cost.",
    Unit.SECONDS,
    coloured(
        "A",
        scale(mean(tfserving.REQUEST_LATENCY, *INFERENCE, by=("model_name", "entrypoint")), SECONDS),
        "{{model_name}}, {{entrypoint}}",
        "",
        NO_SERVER,
    ),
    width=HALF,
)
RATE_BY_MODEL = lines(
    36,
    "request-rate-by-model",
    "Good answers, by model and entry point",
    "Which model answers how many requests?",
    "a model that nobody meant to load.",
    Unit.PER_SECOND,
    coloured(
        "A",
        sum_by(rate(count(tfserving.REQUEST_LATENCY, *INFERENCE)), "model_name", "entrypoint"),
        "{{model_name}}, {{entrypoint}}",
        "",
        NO_SERVER,
    ),
    width=HALF,
)
RUNTIME_BOUNDS = lines(
    37,
    "runtime-quantiles",
    "Model runtime: p50, p99 within their buckets",
    "How long does the blocking call of the model take, wait in the batch queue included? The shade is the bucket.",
    "p99 leaving p50 behind: a queue that comes and goes. Changes within a shade mean nothing.",
    Unit.SECONDS,
    *(
        query
        for ref, name in (("A", "p50"), ("B", "p99"))
        for query in quantile_with_bounds(
            name, recorded.RUNTIME_QUANTILE, (OF_MODEL, OF_SERVER), tfserving.LATENCY_BUCKETS, ref, NO_SERVER
        )
    ),
    width=HALF,
    height=9,
)
QUEUE_BOUNDS = lines(
    38,
    "queue-quantiles",
    "Batch queue: p50, p99 within their buckets",
    "How long do requests wait for their batch? Bounds grow by 1.2; what waited longer than 1.09 s is in one bucket.",
    "p99 at 1.09 s: the histogram has ended, only the mean still moves.",
    Unit.SECONDS,
    *(
        query
        for ref, name in (("A", "p50"), ("B", "p99"))
        for query in quantile_with_bounds(
            name, recorded.QUEUE_QUANTILE, (OF_SERVER,), tfserving.QUEUE_BUCKETS, ref, NO_BATCHING
        )
    ),
    width=HALF,
    height=9,
)
