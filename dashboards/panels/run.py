"""Is the run healthy? The top row, and which phase was on when."""

from __future__ import annotations

from controller import names as loadtest
from dashboards import palette, recorded
from dashboards.panel import Kind, Panel, Query, State, Threshold, Unit
from dashboards.panels.client import ERROR_RATIO
from dashboards.panels.load import ANSWER_RATE
from dashboards.panels.loadgen import WORST_SIGNAL
from dashboards.promql import Expr, equal, max_by, or_else, quantile_now, scale, series, within_step
from dashboards.variables import OF_GENERATOR, OF_PLAN

BETWEEN_RUNS = "Between runs there is no such series."

STATES = tuple(State(code, phase, colour) for code, (phase, colour) in enumerate(palette.PHASES.items(), start=1))
"""Every phase as a number, so that one row a stage can show them."""


def phase_codes() -> Expr:
    """The number of the phase that each stage is in, by stage; no series for a stage that is not on.

    Looked at over each step: a phase that is shorter than a step is not lost, and one that has ended is not prolonged.
    """
    on = (within_step(series(loadtest.PHASE, equal("phase", state.text), OF_PLAN)) for state in STATES)
    return max_by(or_else(*(scale(phase, state.value) for phase, state in zip(on, STATES, strict=True))), "stage")


PHASE_NOW = Panel(
    id=1,
    key="phase-now",
    title="Phase now",
    question="Which stage and phase is on?",
    bad="no run while one should be on.",
    unit=Unit.PLAIN,
    kind=Kind.STAT,
    queries=(
        Query("A", max_by(series(loadtest.PHASE, OF_PLAN), "stage", "phase"), "{{stage}} · {{phase}}", BETWEEN_RUNS),
    ),
    colours=tuple(palette.PHASES.items()),
    labels=("stage", "phase"),
    width=3,
    height=4,
    no_value="no run",
)

TIME_LEFT = Panel(
    id=2,
    key="time-left",
    title="Load left",
    question="How long will the run still send load, by its timetable?",
    bad="zero while a phase is still on: the run is overdue.",
    unit=Unit.CLOCK,
    kind=Kind.STAT,
    queries=(Query("A", max_by(series(loadtest.RUN_REMAINING, OF_PLAN)), "left", BETWEEN_RUNS),),
    width=3,
    height=4,
    no_value="no run",
)

LAST_VERDICT = Panel(
    id=3,
    key="last-verdict",
    title="Verdict",
    question="What did the last finished run mean?",
    bad="fail, or invalid: the generator could not be trusted.",
    unit=Unit.PLAIN,
    kind=Kind.STAT,
    queries=(Query("A", max_by(series(loadtest.VERDICT, OF_PLAN), "verdict"), "{{verdict}}", "No run has ended yet."),),
    colours=tuple(palette.VERDICTS.items()),
    labels=("verdict",),
    width=3,
    height=4,
    no_value="none yet",
)

RATE_NOW = Panel(
    id=4,
    key="rate-now",
    title="Rate",
    question="How many requests end per second, whatever their outcome?",
    bad="a fall while the load asked for stays or rises.",
    unit=Unit.PER_SECOND,
    kind=Kind.STAT,
    queries=(Query("A", ANSWER_RATE, "requests"),),
    width=3,
    height=4,
    decimals=1,
)

P99_NOW = Panel(
    id=5,
    key="p99-now",
    title="Client p99",
    question="How long does the slowest hundredth of the requests take, answered or timed out, seen by the client and "
    "counted as the verdict counts: in an open loop from the intended send?",
    bad="a value near the plan's limit, or one that keeps rising at the same load.",
    unit=Unit.SECONDS,
    kind=Kind.STAT,
    queries=(Query("A", quantile_now(recorded.JUDGED_QUANTILE, "p99", OF_GENERATOR), "p99"),),
    width=3,
    height=4,
)

ERRORS_NOW = Panel(
    id=7,
    key="errors-now",
    title="Error ratio",
    question="Which share of the requests that end did not get a valid answer?",
    bad="more than the plan allows; latency says nothing about these requests.",
    unit=Unit.SHARE,
    kind=Kind.STAT,
    queries=(Query("A", ERROR_RATIO, "errors"),),
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.001, palette.WARN), Threshold(0.01, palette.BAD)),
    width=3,
    height=4,
    decimals=2,
)

SATURATION_NOW = Panel(
    id=8,
    key="saturation-now",
    title="Saturation",
    question="How near is the load generator to its own limit, by its worst signal?",
    bad="100 %: from here on the figures describe the generator, not the server.",
    unit=Unit.SHARE,
    kind=Kind.STAT,
    queries=(Query("A", max_by(WORST_SIGNAL), "worst signal"),),
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.8, palette.WARN), Threshold(1, palette.BAD)),
    width=3,
    height=4,
    decimals=0,
)

PHASES = Panel(
    id=10,
    key="phases",
    title="Phases, by stage",
    question="Which phase was each stage in, and when? Only steady is measured.",
    bad="a hole between phases, or a phase that lasts longer than planned.",
    unit=Unit.PLAIN,
    kind=Kind.STATES,
    queries=(Query("A", phase_codes(), "{{stage}}", BETWEEN_RUNS),),
    states=STATES,
    height=5,
    no_value="no run in this time range",
)
