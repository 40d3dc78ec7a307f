"""Each signal that says how near the generator is to a limit: the reading itself, its limit, and what to do at it."""

from __future__ import annotations

from dashboards import palette
from dashboards.panel import Column, Kind, Panel, Query, Style, Threshold, Unit
from dashboards.panels.shapes import HALF, lines
from dashboards.promql import Expr, equal, max_by, series
from dashboards.variables import OF_GENERATOR, OF_WORKER
from exporters.loadgen_limits import LIMITS
from exporters.names import loadgen

TITLES = {
    "cpu": "CPU, of what can be had",
    "loop_lag": "Event loop, late by (p99)",
    "throttling": "Held back by the CPU quota, of all periods",
    "run_queue": "Ready, and no core free",
    "pressure": "Waiting for CPU, memory or disk",
    "sockets": "Sockets, of the local ports",
    "descriptors": "Open files, of those allowed",
    "memory": "Memory, of what is allowed",
    "lateness": "Open loop: sent late by (p99)",
    "arrivals": "Open loop: due and not sent",
    "users": "Closed loop: users missing",
    "gc": "Held up by garbage collection",
    "clock": "Wall clock moved by",
    "errors": "Requests lost on the generator's own machine",
    "workers": "Oldest report of a worker",
    "canary": "Slower than a lone probe by",
}
ABSENT = {
    "throttling": "No CPU quota holds for the generator.",
    "run_queue": "The kernel does not tell how long threads wait.",
    "pressure": "The kernel keeps no pressure figures.",
    "sockets": "The kernel does not tell of its sockets.",
    "memory": "No memory limit holds for the generator.",
    "lateness": "Only a plan with an open loop has arrivals.",
    "arrivals": "Only a plan with an open loop has arrivals.",
    "users": "Only a plan with a closed loop has users.",
    "errors": "No request has ended yet.",
    "workers": "Every worker is expected and none has been missed.",
    "canary": "No probe of the controller's has been answered in this time.",
    "gc": "No report has come yet.",
    "clock": "No report has come yet.",
    "descriptors": "The process may open as many files as it likes.",
}
"""Why a signal can have no reading; what is not listed always has one."""

FIRST_ID = 300

LINE = 118
"""Characters that the table has room for beside its other columns, on a screen of 1280 pixels."""


def _signal(number: int, signal: str) -> Panel:
    limit = LIMITS[signal]
    bound = max_by(series(loadgen.SIGNAL_LIMIT, equal("signal", signal), OF_GENERATOR))
    share = max_by(series(loadgen.SATURATION, equal("signal", signal), OF_WORKER, OF_GENERATOR), "worker")
    return lines(
        FIRST_ID + number,
        f"signal-{signal.replace('_', '-')}",
        f"{signal}: {TITLES[signal]}",
        f"How near is `{signal}` to its limit? It is {limit.measures}.",
        f"at the limit, because {limit.reason}. What to do: {limit.remedy}.",
        Unit.SHARE if limit.unit == "ratio" else Unit.SECONDS,
        Query("A", Expr(f"{share} * on () group_left () {bound}"), "{{worker}}", ABSENT.get(signal)),
        Query("B", bound, "limit", style=Style(palette.BAD, dashed=True, width=1)),
        width=HALF,
        height=6,
        no_value="no reading",
    )


OF_SIGNAL = {signal: _signal(number, signal) for number, signal in enumerate(loadgen.SIGNALS)}

TIME = tuple(OF_SIGNAL[name] for name in ("cpu", "loop_lag", "throttling", "run_queue", "pressure", "gc"))
LOAD = tuple(OF_SIGNAL[name] for name in ("lateness", "arrivals", "users", "workers", "canary", "errors"))
ROOM = tuple(OF_SIGNAL[name] for name in ("sockets", "descriptors", "memory", "clock"))

WORST_OF_EACH = Expr(
    f"topk by (signal) (1, max by (signal, worker) ({series(loadgen.SATURATION, OF_WORKER, OF_GENERATOR)}))"
)


def in_a_line(remedy: str) -> str:
    """What comes first of a remedy that is too long for a table's line; all of it is in the signal's own panel."""
    return remedy if len(remedy) <= LINE else remedy[:LINE].rpartition(",")[0]


REMEDIES = tuple((signal, in_a_line(limit.remedy)) for signal, limit in LIMITS.items())

NOW = Panel(
    id=340,
    key="signals-now",
    title="Each signal now: its worst worker, its limit, and what to do at it",
    question="Which signals are near their limit, of which worker, and what helps?",
    bad="100 % and more: the verdict of this stage will be invalid.",
    unit=Unit.PLAIN,
    kind=Kind.TABLE,
    queries=(
        Query("A", Expr(f'sort_desc(label_join({WORST_OF_EACH}, "remedy", "", "signal"))'), "of its limit"),
        Query("B", max_by(series(loadgen.SIGNAL_LIMIT, OF_GENERATOR), "signal"), "limit"),
    ),
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.8, palette.WARN), Threshold(1, palette.BAD)),
    columns=(
        Column("signal", "signal", width=100),
        Column("worker", "worker", width=130),
        Column("A", "of its limit", Unit.SHARE, width=110),
        Column("B", "limit", Unit.COUNT, width=80),
        Column("remedy", "what to do at it", width=780, texts=REMEDIES),
    ),
    height=18,
    no_value="none",
)
