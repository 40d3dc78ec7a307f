"""What load was asked for, and what load arrived?"""

from __future__ import annotations

from controller import names as loadtest
from dashboards import palette, tfserving
from dashboards.panel import Kind, Panel, Query, Style, Unit
from dashboards.promql import count, max_by, rate, series, sum_by, unequal
from dashboards.variables import OF_GENERATOR, OF_MODEL, OF_PLAN, OF_SERVER
from exporters.names import loadgen

ANSWERS = rate(series(loadgen.REQUESTS, OF_GENERATOR))
ANSWER_RATE = sum_by(ANSWERS)
"""Requests per second that ended, whatever their outcome."""

SERVED = rate(count(tfserving.REQUEST_LATENCY, unequal("API", ""), OF_MODEL, OF_SERVER))

USERS = Panel(
    id=11,
    key="load-profile",
    title="Load profile: users asked for and running",
    question="Does the generator run as many users as the timetable asks for?",
    bad="running below asked for: the load was never there. In flight near running: every user waits for the server.",
    unit=Unit.COUNT,
    kind=Kind.LINES,
    queries=(
        Query(
            "C",
            sum_by(series(loadgen.IN_FLIGHT, OF_GENERATOR)),
            "requests in flight",
            style=Style(palette.VIOLET, width=1),
        ),
        Query(
            "B", sum_by(series(loadgen.USERS_RUNNING, OF_GENERATOR)), "running", style=Style(palette.GOOD, stepped=True)
        ),
        Query(
            "A",
            max_by(series(loadtest.USERS_TARGET, OF_PLAN)),
            "asked for",
            "Between runs no load is asked for.",
            Style(palette.BLUE, dashed=True, stepped=True),
        ),
    ),
)

REQUESTS = Panel(
    id=12,
    key="request-rate",
    title="Requests per second, by outcome",
    question="How many requests end per second, how did they end, and does the server count the same?",
    bad="flat while users rise: throughput has its ceiling. Server's line apart from the client's ok: others load it "
    "too, or requests get lost.",
    unit=Unit.PER_SECOND,
    kind=Kind.LINES,
    queries=(
        Query("A", sum_by(ANSWERS, "outcome"), "{{outcome}}"),
        Query(
            "B",
            sum_by(SERVED),
            "TF Serving: answered OK",
            "The target is not a TF Serving, or has not answered a request yet.",
            Style(palette.BLUE, dashed=True, unstacked=True),
        ),
    ),
    colours=tuple(palette.OUTCOMES.items()),
    stacked=True,
)
