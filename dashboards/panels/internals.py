"""What TensorFlow Serving does beside answering: loads, versions, warm-up, graph runs."""

from __future__ import annotations

from dashboards import palette, recorded, tfserving
from dashboards.panel import Column, Kind, Panel, Query, Style, Threshold, Unit
from dashboards.panels.server import NO_BATCHING, NO_SERVER, SECONDS
from dashboards.panels.shapes import HALF, NONE_IS_GOOD, lines, now
from dashboards.promql import (
    divide,
    equal,
    max_by,
    mean_quotient,
    rate,
    scale,
    series,
    sum_by,
    total,
    unequal,
)
from dashboards.variables import OF_MODEL, OF_SERVER

NO_WARMUP = "The model has no warm-up file."
NEVER_FAILED = "No load has failed."

LOADED = now(
    230,
    "loads-ok",
    "Loads that succeeded",
    "How many versions were loaded since the server started?",
    "a number that grows during a run: another version is measured from then on.",
    Unit.COUNT,
    sum_by(series(tfserving.LOADS, equal("status", "success"), OF_SERVER)),
    absent=NO_SERVER,
    width=6,
)
FAILED = now(
    231,
    "loads-failed",
    "Loads that failed",
    "How many loads failed since the server started?",
    "any: the server keeps the version that it had.",
    Unit.COUNT,
    sum_by(series(tfserving.LOADS, unequal("status", "success"), OF_SERVER)),
    absent=NEVER_FAILED,
    thresholds=NONE_IS_GOOD,
    no_value="none",
    width=6,
)
PROGRESS = now(
    232,
    "inferences-in-progress",
    "In progress",
    "How many inferences are inside the server at once, by Little's law, over 30 s?",
    "near the number of its threads.",
    Unit.COUNT,
    sum_by(series(recorded.IN_PROGRESS, OF_MODEL, OF_SERVER)),
    absent=NO_SERVER,
    decimals=1,
    width=6,
)
BATCH_RATE = now(
    233,
    "batches-now",
    "Batches",
    "How many batches does the server execute per second?",
    "as many as requests: batching joins nothing.",
    Unit.EVENTS,
    sum_by(rate(series(tfserving.BATCHES, OF_SERVER))),
    absent=NO_BATCHING,
    decimals=0,
    no_value="no batching",
    width=6,
)
VERSIONS = Panel(
    id=234,
    key="versions",
    title="Versions loaded: the folder's last part is the version",
    question="Which versions did the server load, how often, and how long did it take?",
    bad="a load during a run, or one that failed.",
    unit=Unit.PLAIN,
    kind=Kind.TABLE,
    queries=(
        Query("A", max_by(series(tfserving.LOADS, OF_SERVER), "model_path", "status"), "loads", NO_SERVER),
        Query(
            "B",
            scale(max_by(series(tfserving.LOAD_TIME, OF_SERVER), "model_path"), SECONDS),
            "seconds in all",
            NO_SERVER,
        ),
    ),
    columns=(
        Column("model_path", "folder", width=420),
        Column("status", "status", width=120),
        Column("A", "loads", Unit.COUNT, width=100),
        Column("B", "time in all", Unit.SECONDS, width=140),
    ),
    height=6,
    no_value="no load seen",
)
LOADS = lines(
    235,
    "loads",
    "Loads, by folder and status",
    "When was a version loaded?",
    "a step inside a steady phase: the window measured two versions.",
    Unit.COUNT,
    Query(
        "A",
        max_by(series(tfserving.LOADS, OF_SERVER), "model_path", "status"),
        "{{model_path}} {{status}}",
        NO_SERVER,
        Style(stepped=True),
    ),
    width=HALF,
)
WARMUP = lines(
    236,
    "warmup",
    "Warm-up: time spent, summed up",
    "How long did the server replay its warm-up file?",
    "nothing although a file exists: the first requests pay.",
    Unit.SECONDS,
    Query("A", scale(max_by(total(tfserving.WARMUP, OF_SERVER), "model_path"), SECONDS), "{{model_path}}", NO_WARMUP),
    width=HALF,
    no_value="no warm-up file",
)
GRAPH_RATE = lines(
    237,
    "graph-runs",
    "Graph runs per second, and batches",
    "How often does the model run?",
    "more graph runs than batches and unbatched requests: something else runs the model.",
    Unit.EVENTS,
    Query("A", sum_by(rate(series(tfserving.GRAPH_RUNS, OF_SERVER))), "graph runs", NO_SERVER),
    Query("B", sum_by(rate(series(tfserving.BATCHES, OF_SERVER))), "batches", NO_BATCHING),
    width=HALF,
)
GRAPH_MEAN = lines(
    238,
    "graph-time",
    "Time of one graph run, mean",
    "How long does one run of the model take?",
    "a rise at the same batch size: the cores are shared, or throttled.",
    Unit.SECONDS,
    Query(
        "A",
        scale(
            divide(
                sum_by(rate(series(tfserving.GRAPH_TIME, OF_SERVER))),
                sum_by(rate(series(tfserving.GRAPH_RUNS, OF_SERVER))),
            ),
            SECONDS,
        ),
        "mean",
        NO_SERVER,
        Style(palette.GOOD),
    ),
    width=HALF,
)
STATUSES = lines(
    239,
    "server-statuses",
    "Requests by status, health checks included",
    "What does the server answer, by its own account? A status's first requests count whole.",
    "rejections (UNAVAILABLE, RESOURCE_EXHAUSTED): the queue is full. NOT_FOUND: a version is being switched.",
    Unit.PER_SECOND,
    Query("A", sum_by(series(recorded.REQUEST_STATUSES, OF_MODEL, OF_SERVER), "status"), "{{status}}", NO_SERVER),
    width=HALF,
)
PADDING = lines(
    240,
    "padding",
    "Padding: share of the rows computed",
    "How much of the work is for rows that nobody asked for?",
    "more than a quarter: the allowed batch sizes do not fit the load.",
    Unit.SHARE,
    Query("A", mean_quotient(tfserving.PADDING, tfserving.BATCH_SIZE, OF_SERVER), "padding", NO_BATCHING),
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.25, palette.WARN)),
    width=HALF,
)
