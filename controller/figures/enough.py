"""How much more measuring would probably settle an objective? A forecast for advice, never part of a ruling."""

from __future__ import annotations

import math

from controller.figures.measurement import BEYOND, Absent, Measured, Measurement
from controller.figures.statistics import decimal_fraction
from controller.figures.window import Window
from controller.figures.wording import span
from controller.plans.criterion import QUANTILES, Criterion, Indicator, Operator

MOST_TIMES = 1000
"""A value so close to its limit that a thousand times the requests would be needed will not be decided by waiting."""


def forecast(criterion: Criterion, window: Window) -> str:
    """Advice with numbers: how many more requests, and how long that takes at the window's rate."""
    measured = window.indicators[criterion.indicator]
    more = more_requests(criterion, measured)
    match measured:
        case Measured(censored=True):
            return "raise the workload's timeout above the limit, so that slow answers are measured and not given up"
        case _ if more is None:
            return "more requests will hardly decide this: change the limit, or take it as it is"
        case _:
            time = f", another {span(more / window.rate)} at this load" if window.rate > 0 else ""
            return f"about {more:,} more requests{time}, would probably be enough"


def more_requests(criterion: Criterion, measured: Measurement) -> int | None:
    """Further requests until the interval probably leaves the bound; None when that is not to be expected.

    An interval shrinks with the square root of the number of requests, so it must become (its reach towards the bound
    / the value's distance from the bound) squared times as many.
    """
    match measured:
        case Absent(n=n):
            return fewest(criterion.indicator) - n if fewest(criterion.indicator) > n else None
        case Measured(value=value, n=n, low=low, high=high):
            distance = abs(criterion.bound - value)
            end = high if criterion.bound >= value else low
            if distance == 0 or n == 0:
                return None
            if end is None:
                return max(n, fewest(criterion.indicator))
            times = (abs(end - value) / distance) ** 2
            return math.ceil(round(n * max(0.0, times - 1), 3)) or 1 if times <= MOST_TIMES else None


def fewest(indicator: Indicator) -> int:
    """Requests that the indicator needs to be shown at all."""
    p = QUANTILES.get(indicator)
    return 30 if p is None else math.ceil(BEYOND / (1 - decimal_fraction(p)))


def margin(criterion: Criterion, measured: Measurement) -> float | None:
    """Distance to the limit as a share of it, positive on the good side; None without value or with a limit of zero."""
    if not isinstance(measured, Measured) or criterion.bound == 0:
        return None
    room = (criterion.bound - measured.value) / abs(criterion.bound)
    return room if criterion.operator in (Operator.LT, Operator.LE) else -room
