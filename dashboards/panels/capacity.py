"""How much can the target take? Throughput against latency and against concurrency."""

from __future__ import annotations

from controller import names as loadtest
from dashboards import palette
from dashboards.panel import Kind, Panel, Query, Style, Threshold, Unit
from dashboards.panels.client import ERROR_RATIO, LATENCY_AT, NO_LATENCY_OBJECTIVE
from dashboards.panels.load import ANSWER_RATE
from dashboards.panels.run import BETWEEN_RUNS
from dashboards.panels.shapes import HALF, coloured, lines, now
from dashboards.promql import Expr, largest, matches, max_by, min_by, series, sum_by
from dashboards.variables import OF_GENERATOR, OF_PLAN, OF_RUN
from exporters.names import loadgen

GOOD_ENOUGH = 0.01
"""Share of errors up to which a throughput counts as stable."""

KNEE = 0.95
"""From this share of the best stable throughput on, a point belongs to the knee."""

P99 = LATENCY_AT["p99"]
IN_FLIGHT = sum_by(series(loadgen.IN_FLIGHT, OF_GENERATOR))
STABLE = Expr(f"({ANSWER_RATE}) and ({ERROR_RATIO}) < {GOOD_ENOUGH}")
BEST = largest(STABLE)
LIMIT = min_by(series(loadtest.OBJECTIVE_LIMIT, matches("objective", "p99 *<.*"), OF_PLAN))

NO_REQUESTS = "No request has ended in this time."


def of_run(expr: Expr) -> Expr:
    """The figure with the id of the run that it belongs to; nothing between runs."""
    return Expr(
        f"max by (run_id) ({series(loadtest.RUN_INFO, OF_PLAN, OF_RUN)} and on (instance) "
        f"({loadtest.RUN_ACTIVE.name} == 1)) * on () group_left () ({expr})"
    )


BEST_STABLE = now(
    55,
    "best-stable",
    "Best stable throughput",
    "What is the highest rate in this time range with fewer than 1 % errors?",
    "less than what an earlier version of the target reached.",
    Unit.PER_SECOND,
    BEST,
    absent=NO_REQUESTS,
    decimals=0,
    width=6,
)
NOW_OF_BEST = now(
    56,
    "share-of-best",
    "Now, of the best",
    "Which share of the best stable throughput is reached now?",
    "well below 100 % with more load than before: the target is past its knee.",
    Unit.SHARE,
    Expr(f"({ANSWER_RATE}) / ({BEST})"),
    absent=NO_REQUESTS,
    decimals=0,
    width=6,
)
LATENCY_OF_BEST = now(
    57,
    "p99-at-best",
    "Lowest p99 at the knee",
    "How long does the slowest hundredth take where throughput is within 5 % of its best?",
    "beyond the limit: the usable capacity is lower than the best throughput.",
    Unit.SECONDS,
    Expr(f"min_over_time(({LATENCY_AT['p99']} and ({STABLE}) >= {KNEE} * scalar({BEST}))[$__range:$__interval])"),
    absent=NO_REQUESTS,
    width=6,
)
MOST_IN_FLIGHT = now(
    58,
    "most-in-flight",
    "Most in flight",
    "How many requests were waited for at once, at most?",
    "many times what the best throughput needed: the surplus only waits.",
    Unit.COUNT,
    largest(IN_FLIGHT),
    absent=NO_REQUESTS,
    decimals=0,
    width=6,
)


def _points(number: int, key: str, title: str, question: str, bad: str, *queries: Query, x: Unit, y: Unit) -> Panel:
    return Panel(
        number, key, title, question, bad, y, Kind.POINTS, queries, x_unit=x, width=HALF, height=12, no_value="no run"
    )


RATE_TO_LATENCY = _points(
    59,
    "rate-to-latency",
    "Throughput → p99: each run in its own colour",
    "How does latency answer to throughput? One point for each step of the graph; the line of the limit is drawn too.",
    "points that turn back to the left while they rise: past the knee, more load gives less throughput.",
    Query("A", of_run(ANSWER_RATE), "requests per second", BETWEEN_RUNS),
    Query("B", of_run(P99), "p99", BETWEEN_RUNS),
    Query("C", of_run(LIMIT), "limit of p99", NO_LATENCY_OBJECTIVE, Style(palette.BAD)),
    x=Unit.PER_SECOND,
    y=Unit.SECONDS,
)
FLIGHT_TO_RATE = _points(
    60,
    "flight-to-rate",
    "Requests in flight → throughput: each run in its own colour",
    "How does throughput answer to concurrency?",
    "a curve that has become flat or falls: from that knee on, requests only queue.",
    Query("A", of_run(IN_FLIGHT), "requests in flight", BETWEEN_RUNS),
    Query("B", of_run(ANSWER_RATE), "throughput", BETWEEN_RUNS),
    x=Unit.COUNT,
    y=Unit.PER_SECOND,
)
OVER_TIME = lines(
    61,
    "capacity-over-time",
    "Throughput over time, and the best stable one so far",
    "When was the throughput near its best?",
    "throughput below the best while load is still added.",
    Unit.PER_SECOND,
    coloured("A", ANSWER_RATE, "throughput", palette.BLUE),
    Query("B", STABLE, "with errors below 1 %", NO_REQUESTS, Style(palette.GOOD, width=3)),
)
CONCURRENCY = lines(
    62,
    "capacity-concurrency",
    "Concurrency over time: requests in flight, and users",
    "How many requests are in flight?",
    "a rise without a rise of throughput above.",
    Unit.COUNT,
    coloured("A", IN_FLIGHT, "in flight", palette.VIOLET),
    coloured("B", max_by(series(loadgen.USERS_RUNNING, OF_GENERATOR)), "users", palette.GOOD),
)
ERRORS = lines(
    63,
    "capacity-errors",
    "Error ratio: stable up to 1 %",
    "Up to which load does the target answer well?",
    "above 1 %: this throughput does not count.",
    Unit.SHARE,
    coloured("A", ERROR_RATIO, "errors", palette.BAD),
    thresholds=(Threshold(None, palette.GOOD), Threshold(GOOD_ENOUGH, palette.BAD)),
)
