"""Where does TensorFlow Serving spend the time, and how coarse is what it says?"""

from __future__ import annotations

from dashboards import palette, recorded, tfserving
from dashboards.panel import Kind, Panel, Query, Style, Unit
from dashboards.panels.client import LATENCY_AT
from dashboards.promql import (
    Match,
    bucket_above,
    by_bucket,
    count,
    divide,
    quantile,
    rate,
    scale,
    series,
    sum_by,
    total,
    unequal,
)
from dashboards.tfserving import Buckets
from dashboards.variables import OF_MODEL, OF_SERVER
from exporters.metric import Metric

SECONDS = 1e-6
NO_SERVER = "The target is not a TF Serving, or has not answered a request yet."
NO_BATCHING = "The server runs without batching, or has not executed a batch yet."

INFERENCE = (unequal("API", ""), OF_MODEL, OF_SERVER)
"""Status and metadata requests carry an empty API label and would dilute every figure."""


def quantile_with_bounds(
    name: str, quantiles: Metric, where: tuple[Match, ...], bounds: Buckets, ref: str, absent: str, of: str = ""
) -> tuple[Query, ...]:
    """The recorded quantile and the two bounds of the bucket that it was interpolated in; `of` begins its legend.

    Of several models or servers the slowest is shown, so that the bounds are those of a bucket that exists.
    """
    estimate = quantile(quantiles, name, *where)
    above = bucket_above(estimate, bounds.first, bounds.growth)
    legend, colour = f"{of}{name}", palette.QUANTILES[name]
    low = f"{legend}: bucket from"
    return (
        Query(f"{ref}1", scale(above, 1 / bounds.growth), low, absent, Style(colour, width=0, in_legend=False)),
        Query(
            f"{ref}2",
            above,
            f"{legend}: bucket to",
            absent,
            Style(colour, width=0, band_from=low, in_legend=False),
        ),
        Query(f"{ref}3", estimate, legend, absent, Style(colour)),
    )


def mean_seconds(histogram: Metric, ref: str, legend: str, absent: str, colour: str, narrow: bool) -> Query:
    """Mean in seconds out of sum and count, which unlike a quantile does not depend on buckets."""
    where = INFERENCE if narrow else (OF_SERVER,)
    mean = divide(sum_by(rate(total(histogram, *where))), sum_by(rate(count(histogram, *where))))
    return Query(ref, scale(mean, SECONDS), legend, absent, Style(colour))


HEATMAP = Panel(
    id=15,
    key="server-latency-heatmap",
    title="TF Serving's request latency: its own histogram",
    question="How are successful requests spread over the server's buckets? Bounds grow by 1.8 from bucket to bucket; "
    "time in the network and before a server thread is free is not in it.",
    bad="mass moving up while the load stays. Steady mass in one bucket hides changes of up to 80 %.",
    unit=Unit.MICROSECONDS,
    kind=Kind.HEATMAP,
    width=12,
    height=10,
    queries=(Query("A", by_bucket(recorded.REQUEST_BUCKETS, OF_MODEL, OF_SERVER), "{{le}}", NO_SERVER),),
)

QUANTILES = Panel(
    id=16,
    key="server-latency",
    title="TF Serving's p50, p95, p99 within their buckets, beside the client's p99",
    question="What are the server's quantiles, and between which bounds do they truly lie? The shade is the bucket: "
    "bounds grow by 1.8, so a quantile may read 80 % too high or 44 % too low. Of several models the slowest is shown.",
    bad="the client's line far above the shade: time is lost outside the server. Changes within a shade mean nothing.",
    unit=Unit.SECONDS,
    kind=Kind.LINES,
    queries=(
        *(
            query
            for ref, name in zip("ABC", palette.QUANTILES, strict=True)
            for query in quantile_with_bounds(
                name, recorded.REQUEST_QUANTILE, (OF_MODEL, OF_SERVER), tfserving.LATENCY_BUCKETS, ref, NO_SERVER
            )
        ),
        Query("D", LATENCY_AT["p99"], "client p99", style=Style(palette.ORANGE, dashed=True)),
    ),
    height=9,
)

TIMES = Panel(
    id=17,
    key="server-times",
    title="Inside TF Serving: request, runtime, batch queue",
    question="Where does the server spend a request's time? Means of sum over count; runtime holds the wait in the "
    "batch queue. The shade is the bucket of the queue's p99, whose bounds grow by 1.2.",
    bad="the queue as the larger part of runtime: not enough batch threads, or batches that wait for their timeout.",
    unit=Unit.SECONDS,
    kind=Kind.LINES,
    queries=(
        mean_seconds(tfserving.REQUEST_LATENCY, "A", "request, mean", NO_SERVER, palette.BLUE, narrow=True),
        mean_seconds(tfserving.RUNTIME_LATENCY, "B", "runtime, mean", NO_SERVER, palette.GOOD, narrow=True),
        mean_seconds(tfserving.QUEUE_LATENCY, "C", "batch queue, mean", NO_BATCHING, palette.ORANGE, narrow=False),
        *quantile_with_bounds(
            "p99",
            recorded.QUEUE_QUANTILE,
            (OF_SERVER,),
            tfserving.QUEUE_BUCKETS,
            "D",
            NO_BATCHING,
            "batch queue, ",
        ),
    ),
)

BATCHES = Panel(
    id=18,
    key="server-batches",
    title="Batches: rows and requests in each",
    question="How full are executed batches? Means of sum over count; quantiles of sizes could be twice too high.",
    bad="about one request a batch under load: batching only adds its timeout. Rows far above requests: padding.",
    unit=Unit.COUNT,
    kind=Kind.LINES,
    queries=(
        Query(
            "A",
            divide(
                sum_by(rate(total(tfserving.BATCH_SIZE, OF_SERVER))),
                sum_by(rate(count(tfserving.BATCH_SIZE, OF_SERVER))),
            ),
            "rows, padding included",
            NO_BATCHING,
            Style(palette.BLUE),
        ),
        Query(
            "B",
            divide(
                sum_by(rate(count(tfserving.QUEUE_LATENCY, OF_SERVER))),
                sum_by(rate(series(tfserving.BATCHES, OF_SERVER))),
            ),
            "requests",
            NO_BATCHING,
            Style(palette.ORANGE),
        ),
    ),
    height=6,
)
