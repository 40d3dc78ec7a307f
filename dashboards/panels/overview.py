"""What the home board adds: the verdict so far, how much of each limit is used, and which runs there were."""

from __future__ import annotations

from controller import names as loadtest
from dashboards import palette, recorded
from dashboards.panel import Column, Kind, Panel, Query, State, Threshold, Unit
from dashboards.panels.loadgen import WORST_SIGNAL
from dashboards.panels.run import BETWEEN_RUNS
from dashboards.panels.shapes import HALF, lines, now
from dashboards.promql import Expr, Match, max_by, series
from dashboards.variables import OF_PLAN, OF_RUN

NO_OBJECTIVES = "The plan has no objective on p50, p95, p99 or the error ratio, or no request has ended yet."
OBJECTIVES_USED = series(recorded.OBJECTIVE_USED, OF_PLAN)

WITHIN, BEYOND, UNFIT = 1, 2, 3
SO_FAR = (
    State(WITHIN, "within limits", palette.GOOD),
    State(BEYOND, "beyond a limit", palette.BAD),
    State(UNFIT, "generator at limit", palette.VIOLET),
)

VERDICT_SO_FAR = now(
    9,
    "verdict-so-far",
    "So far",
    "Would the last half minute pass the plan's objectives, and could it be believed?",
    "a limit passed, or the generator at its own limit: then the figures say nothing about the target.",
    Unit.PLAIN,
    Expr(f"{UNFIT} * (max({WORST_SIGNAL}) >= bool 1) > 0 or {WITHIN} + (max({OBJECTIVES_USED}) > bool 1)"),
    absent=NO_OBJECTIVES,
    states=SO_FAR,
    no_value="no run",
)

LIMITS_USED = lines(
    24,
    "objectives-used",
    "Objectives: share of each limit used",
    "How near is each indicator to the limit that the plan sets for it? Over 30 s, from histogram buckets.",
    "100 % and more inside a steady phase. The verdict itself uses the exact record of the whole window.",
    Unit.SHARE,
    Query("A", max_by(OBJECTIVES_USED, "objective"), "{{objective}}", NO_OBJECTIVES),
    thresholds=(Threshold(None, palette.GOOD), Threshold(1, palette.BAD)),
    no_value="no objective",
)

REQUEST_SHARES = lines(
    25,
    "duration-shares",
    "Requests by how long they took",
    "Which share of the answered or timed-out requests took 0 to 100 ms, up to 200, up to 500, up to 1000, or longer?",
    "shares above 500 ms that grow: some users wait although the median looks well.",
    Unit.SHARE,
    Query("A", max_by(series(recorded.SHARES), "duration"), "{{duration}}", "No request has ended yet."),
    stacked=True,
    colours=(
        ("0-100 ms", palette.GOOD),
        ("100-200 ms", palette.TEAL),
        ("200-500 ms", palette.WARN),
        ("500-1000 ms", palette.ORANGE),
        ("over 1000 ms", palette.BAD),
    ),
    width=HALF,
)

LOAD_ON = f"on (instance) ({loadtest.RUN_ACTIVE.name} == 1)"


def _seen(first: bool, info: Expr) -> Expr:
    """When a run was first, or last, seen to be on, in milliseconds."""
    operator = "min" if first else "max"
    return Expr(
        f"1000 * {operator} by (run_id, plan) ({operator}_over_time(timestamp({info} and {LOAD_ON})[$__range:30s]))"
    )


def _ruling(info: Expr) -> Expr:
    return Expr(
        f"max by (run_id, plan, verdict) (max_over_time(({loadtest.VERDICT.name} * on (instance, plan) "
        f"group_left (run_id) {info} unless {LOAD_ON})[$__range:30s]))"
    )


TIMES = 'from=${__data.fields["from"]}&to=${__data.fields["to"]}'
HERE = f'/d/stagelight-load-test?{TIMES}&var-plan=${{__data.fields["plan"]}}&var-run=${{__data.fields["run"]}}'


def runs(number: int, key: str, *which: Match) -> Panel:
    """The runs of the chosen plans, with links to each."""
    info = series(loadtest.RUN_INFO, OF_PLAN, *which)
    return Panel(
        id=number,
        key=key,
        title="Runs in this time range: click one to see it alone",
        question="Which runs were there, and how did they end?",
        bad="invalid runs one after the other: the generator needs more room.",
        unit=Unit.PLAIN,
        kind=Kind.TABLE,
        queries=(
            Query("A", _seen(True, info), "from", BETWEEN_RUNS),
            Query("B", _seen(False, info), "to", BETWEEN_RUNS),
            Query("C", _ruling(info), "verdict", "No run has ended yet."),
        ),
        columns=(
            Column("run_id", "run", width=280, link=HERE),
            Column("plan", "plan", width=160),
            Column("verdict", "verdict", width=120),
            Column("A", "from", Unit.INSTANT, width=200),
            Column("B", "to", Unit.INSTANT, width=200),
        ),
        height=6,
        no_value="no run in this time range",
    )


RUNS = runs(26, "runs", OF_RUN)
