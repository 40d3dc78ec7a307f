"""How long do requests take and how do they fail, seen by the client?"""

from __future__ import annotations

from controller import names as loadtest
from dashboards import palette, recorded
from dashboards.panel import Kind, Panel, Query, Style, Unit
from dashboards.promql import (
    by_bucket,
    differs,
    divide,
    matches,
    max_by,
    quantile,
    rate,
    series,
    sum_by,
    unequal,
)
from dashboards.variables import OF_GENERATOR, OF_MODEL, OF_PLAN, OF_SERVER
from exporters.names import loadgen

NO_LATENCY_OBJECTIVE = "The plan sets no limit on this latency."

CLOSED_LOOP = "Only a plan with an open loop has arrivals."

LATENCY_AT = {name: quantile(recorded.ANSWER_QUANTILE, name, OF_GENERATOR) for name in palette.QUANTILES}
"""Quantile to its expression, in seconds from the actual send to the end of the answer. Good answers count, and
time-outs for as long as they were waited for."""

ERROR_RATIO = divide(
    sum_by(rate(series(loadgen.REQUESTS, differs("outcome", "ok|degraded"), OF_GENERATOR))),
    sum_by(rate(series(loadgen.REQUESTS, OF_GENERATOR))),
)

LATENCY = Panel(
    id=13,
    key="client-latency",
    title="Client latency: p50, p95, p99",
    question="How long do requests take, from sending to the end of a good answer or to the time-out? Over 30 s, from "
    "histogram buckets, each point the worst of its step; the verdict uses the exact record.",
    bad="lines above a limit, or p99 leaving p50 behind. Requests that failed otherwise are not in here: see failures.",
    unit=Unit.SECONDS,
    kind=Kind.LINES,
    queries=(
        *(
            Query(ref, LATENCY_AT[name], name, style=Style(colour))
            for ref, (name, colour) in zip("ABC", palette.QUANTILES.items(), strict=True)
        ),
        Query(
            "E",
            quantile(recorded.INTENDED_QUANTILE, "p99", OF_GENERATOR),
            "p99 from the intended send",
            CLOSED_LOOP,
            Style(palette.ORANGE),
        ),
        Query(
            "D",
            max_by(
                series(loadtest.OBJECTIVE_LIMIT, matches("objective", "(p[0-9.]+|mean|max) *<.*"), OF_PLAN), "objective"
            ),
            "limit: {{objective}}",
            NO_LATENCY_OBJECTIVE,
            Style(palette.BAD, dashed=True, width=1),
        ),
    ),
)

LATENCY_HEATMAP = Panel(
    id=14,
    key="client-latency-heatmap",
    title="Client latency: all requests, answered or timed out",
    question="How are requests spread over durations, as the client's histogram counts them?",
    bad="a second band above the first one: two kinds of requests, or a queue that comes and goes.",
    unit=Unit.SECONDS,
    kind=Kind.HEATMAP,
    width=12,
    height=10,
    queries=(Query("A", by_bucket(recorded.ANSWERS, OF_GENERATOR), "{{le}}"),),
)

FAILURES = Panel(
    id=19,
    key="failures",
    title="Failures: the client's outcomes, the server's statuses",
    question="How many requests fail per second, why by the client's account, and what does the server say?",
    bad="anything above zero. Failures that only the client counts: never came in, or answered too late.",
    unit=Unit.PER_SECOND,
    kind=Kind.LINES,
    queries=(
        Query(
            "A",
            sum_by(rate(series(loadgen.REQUESTS, unequal("outcome", "ok"), OF_GENERATOR)), "outcome"),
            "{{outcome}}",
        ),
        Query(
            "B",
            sum_by(series(recorded.REQUEST_STATUSES, unequal("status", "OK"), OF_MODEL, OF_SERVER), "status"),
            "TF Serving: {{status}}",
            "TF Serving has no series for a status that it never answered.",
            Style(dashed=True),
        ),
    ),
    colours=tuple(palette.OUTCOMES.items()),
)
