"""The load generator's own health, worker by worker: for whoever is on call."""

from __future__ import annotations

from dashboards import palette
from dashboards.panel import Query, Threshold, Unit
from dashboards.panels.loadgen import WORST_SIGNAL
from dashboards.panels.shapes import HALF, NONE_IS_GOOD, TO_LIMIT, lines, now
from dashboards.promql import Expr, buckets, max_by, rate, series, subtract, sum_by
from dashboards.variables import OF_GENERATOR, OF_WORKER
from exporters.names import loadgen

OF = (OF_WORKER, OF_GENERATOR)

WORST = now(
    40,
    "health-worst",
    "Worst signal",
    "How near is the worst worker to its limit?",
    "100 %: this stage will be invalid.",
    Unit.SHARE,
    max_by(WORST_SIGNAL),
    thresholds=TO_LIMIT,
    decimals=0,
    width=4,
)
FIT = now(
    41,
    "health-fit",
    "The generator is",
    "Can the generator be trusted now, and if not, which signal of which worker is at its limit?",
    "anything but fit: the verdict of this stage becomes invalid. The table below says what to do about the signal.",
    Unit.PLAIN,
    Expr(
        f"topk(1, max by (signal, worker) ({WORST_SIGNAL}) >= 1) "
        f'or label_replace(max({WORST_SIGNAL}) < 1, "signal", "fit", "", "")'
    ),
    labels=("signal", "worker"),
    colours=(("fit", palette.GOOD), *((signal, palette.BAD) for signal in loadgen.SIGNALS)),
    no_value="no generator",
    width=4,
)
MISSING = now(
    42,
    "health-missing",
    "Workers missing",
    "How many workers do not report?",
    "any: less load is sent than ordered. Look at the report ages below, then at locust.log.",
    Unit.COUNT,
    subtract(
        sum_by(series(loadgen.WORKERS_EXPECTED, OF_GENERATOR)), sum_by(series(loadgen.WORKERS_CONNECTED, OF_GENERATOR))
    ),
    thresholds=NONE_IS_GOOD,
    width=4,
)
USERS_MISSING = now(
    43,
    "health-users-missing",
    "Users missing",
    "How many users fewer run than the last order asked for?",
    "more than a hundredth of the users for longer than a ramp takes: the window becomes invalid.",
    Unit.COUNT,
    subtract(sum_by(series(loadgen.USERS_TARGET, OF_GENERATOR)), sum_by(series(loadgen.USERS_RUNNING, OF_GENERATOR))),
    thresholds=(Threshold(None, palette.GOOD), Threshold(1, palette.WARN)),
    width=4,
)
LOST = now(
    44,
    "health-lost",
    "Reports lost",
    "How many reports of workers never reached the master?",
    "any: figures have holes, and the run becomes invalid.",
    Unit.COUNT,
    sum_by(series(loadgen.REPORTS_LOST, OF_GENERATOR)),
    thresholds=NONE_IS_GOOD,
    width=4,
)
OWN_ERRORS = now(
    45,
    "health-own-errors",
    "Own errors",
    "How many requests did the generator itself lose, in all?",
    "any: more than a thousandth makes a window invalid.",
    Unit.COUNT,
    sum_by(Expr(f'{loadgen.REQUESTS.name}{{outcome="generator_error", {OF_GENERATOR}}}')),
    thresholds=NONE_IS_GOOD,
    width=4,
)

SIGNALS = lines(
    46,
    "health-signals",
    "Every signal, its worst worker, as a share of its limit",
    "Which limit does which signal near, and since when? 100 % is at it. Each worker has its line in the rows below.",
    "a line at 100 %: the name in the legend is the signal; the table says which worker, and what to do.",
    Unit.SHARE,
    Query("A", max_by(series(loadgen.SATURATION, *OF), "signal"), "{{signal}}"),
    thresholds=(Threshold(None, palette.GOOD), Threshold(1, palette.BAD)),
    height=9,
)
LAG = lines(
    48,
    "health-lag",
    "Event loop, late by (p99)",
    "How much later than asked does each worker's event loop wake up, in the slowest hundredth?",
    "20 ms and more: latencies measured now are the generator's own.",
    Unit.SECONDS,
    Query(
        "A",
        Expr(f"histogram_quantile(0.99, {sum_by(rate(buckets(loadgen.LOOP_LAG, *OF)), 'worker', 'le')})"),
        "{{worker}}",
    ),
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.02, palette.BAD)),
    width=HALF,
)
