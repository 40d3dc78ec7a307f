"""The open loop: is what is due sent, and when?"""

from __future__ import annotations

from dashboards import palette, recorded
from dashboards.panel import Query, Style, Threshold, Unit
from dashboards.panels.client import CLOSED_LOOP
from dashboards.panels.shapes import HALF, NONE_IS_GOOD, coloured, lines, now
from dashboards.promql import max_by, mean, quantile, quantile_now, rate, series, sum_by
from dashboards.variables import OF_GENERATOR
from exporters.names import loadgen

LATENESS = mean(loadgen.LATENESS, OF_GENERATOR)

DROPPED_NOW = now(
    280,
    "arrivals-dropped-now",
    "Arrivals dropped",
    "How many requests that were due are not sent, per second?",
    "any: less load is offered than the plan says, and the answers that are missing would have been the slow ones.",
    Unit.PER_SECOND,
    sum_by(rate(series(loadgen.DROPPED, OF_GENERATOR))),
    absent=CLOSED_LOOP,
    thresholds=NONE_IS_GOOD,
    no_value="closed loop",
    width=12,
)
LATE_NOW = now(
    281,
    "arrivals-late-now",
    "Sent too late (p99)",
    "How long after its intended time is a request sent, in the slowest hundredth?",
    "a tenth of the latency that is measured, or more.",
    Unit.SECONDS,
    quantile_now(recorded.LATENESS_QUANTILE, "p99", OF_GENERATOR),
    absent=CLOSED_LOOP,
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.02, palette.WARN)),
    no_value="closed loop",
    width=12,
)
RATES = lines(
    282,
    "arrivals",
    "Open loop: arrivals asked for, due, and dropped",
    "Is every request that the timetable asks for sent?",
    "dropped above zero: requests that are under way have reached their number, or the generator has no time.",
    Unit.PER_SECOND,
    Query(
        "A",
        max_by(series(loadgen.RATE_TARGET, OF_GENERATOR)),
        "asked for",
        CLOSED_LOOP,
        Style(palette.BLUE, dashed=True, stepped=True),
    ),
    coloured("B", sum_by(rate(series(loadgen.ARRIVALS, OF_GENERATOR))), "due", palette.GOOD, CLOSED_LOOP),
    Query("C", sum_by(rate(series(loadgen.DROPPED, OF_GENERATOR)), "reason"), "dropped: {{reason}}", CLOSED_LOOP),
    colours=(("dropped: no_slot", palette.BAD), ("dropped: no_lease", palette.BROWN)),
    width=HALF,
    no_value="closed loop",
)
FROM_INTENDED = lines(
    283,
    "intended-latency",
    "Open loop: latency from the intended send time",
    "How long does a user wait who came at the intended time? Lateness of the generator is in it.",
    "far above the latency from the actual send: requests queue inside the generator.",
    Unit.SECONDS,
    *(
        Query(ref, quantile(recorded.INTENDED_QUANTILE, name, OF_GENERATOR), name, CLOSED_LOOP, Style(colour))
        for ref, (name, colour) in zip("ABC", palette.QUANTILES.items(), strict=True)
    ),
    width=HALF,
    no_value="closed loop",
)
