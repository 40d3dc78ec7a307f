"""The run in sight beside an earlier or later one, moved so that their first steady phases begin together."""

from __future__ import annotations

from dataclasses import replace

from controller import names as loadtest
from dashboards.board import Variable
from dashboards.panel import Panel, Query, Style, Unit
from dashboards.panels import client, load, loadgen, overview, run, server
from dashboards.panels.shapes import now
from dashboards.promql import Expr, label_values, matches, max_by, shifted
from dashboards.variables import PLAN

THIS = Variable("run", "Run", label_values(loadtest.RUN_INFO, "run_id", matches("plan", f"${PLAN.name}")), many=False)
OTHER = Variable("other", "Compared with", THIS.values, many=False)
"""Both runs must lie in the time range when it is chosen; the range is then narrowed to the first."""

HISTORY = "14d"
"""How far back a run's first steady phase is looked for."""


def steady_since(run: Variable) -> str:
    """When the first steady phase of the run began, in Unix time."""
    info = f'{loadtest.RUN_INFO.name}{{run_id=~"${run.name}"}}'
    start = f'{loadtest.SLOT_START.name}{{phase="steady"}}'
    return f"min(min_over_time(({start} * on (instance, plan) group_left (run_id) {info})[{HISTORY}:1m]))"


SHIFT = Variable(
    "shift",
    "Shift",
    Expr(f"query_result(round({steady_since(THIS)} - {steady_since(OTHER)}) != 0 or vector(1))"),
    many=False,
    regex=r"/ (-?[0-9]+) [0-9]+$/",
    hidden=True,
    unchosen="1",
)
"""Seconds by which the other run was earlier; 1 (an offset must not be 0) while there are no two different runs."""

ABSENT = "The other run is not in the store, or the two are the same."


NOT_ZERO = "There was none of it."


def above_zero(query: Query) -> Query:
    """The query without the lines that stay at zero: twice as many legends as a panel has room for."""
    return replace(query, expr=Expr(f"{query.expr} > 0"), may_be_empty=query.may_be_empty or NOT_ZERO)


def beside(panel: Panel, number: int, key: str, *refs: str) -> Panel:
    """The panel's lines of these refs as they are, and dashed as they were in the other run."""
    kept = [query for query in panel.queries if query.ref in refs]
    if panel.unit is Unit.PER_SECOND:
        kept = [above_zero(query) for query in kept]
    other = [
        replace(
            query,
            ref=f"{query.ref}O",
            expr=shifted(query.expr, f"${{{SHIFT.name}}}s"),
            legend=f"other: {query.legend}",
            may_be_empty=ABSENT,
            style=Style(query.style.colour, dashed=True, width=1, unstacked=True),
        )
        for query in kept
    ]
    return replace(panel, id=number, key=key, queries=(*kept, *other), stacked=False, height=8)


APART = now(
    250,
    "compare-apart",
    "The other run was earlier by",
    "How far apart are the first steady phases of the two runs?",
    "nothing although two runs are chosen: one of them is not in the store any more.",
    Unit.CLOCK,
    Expr(f"vector(${{{SHIFT.name}}}) != 1"),
    absent=ABSENT,
    no_value="no other run",
    width=24,
)

PHASES = beside(run.PHASES, 251, "compare-phases", "A")
USERS = beside(load.USERS, 252, "compare-users", "A", "B")
RATE = beside(load.REQUESTS, 253, "compare-rate", "A")
LATENCY = beside(client.LATENCY, 254, "compare-latency", "A", "B", "C")
TIMES = beside(server.TIMES, 255, "compare-times", "A", "B", "C")
FAILURES = replace(beside(client.FAILURES, 256, "compare-failures", "A"), no_value="none")
SATURATION = beside(
    replace(
        loadgen.SATURATION,
        title="Generator saturation, worst signal",
        queries=(Query("A", max_by(loadgen.WORST_SIGNAL), "worst signal"),),
    ),
    257,
    "compare-saturation",
    "A",
)
RUNS = overview.runs(258, "compare-runs")
