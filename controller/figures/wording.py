"""How a figure is written for people: three significant digits, one unit, bounds and absence said in words."""

from __future__ import annotations

import math

from controller.figures.measurement import Absent, Measured, Measurement
from controller.plans.criterion import Indicator

RATIOS = (Indicator.ERROR_RATIO, Indicator.TIMEOUT_RATIO, Indicator.DEGRADED_RATIO)


def digits(value: float, significant: int = 3) -> str:
    """So many significant digits, thousands separated, never in powers of ten."""
    if value == 0:
        return "0"
    places = significant - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}"


def latency(seconds: float) -> str:
    """`48.2 ms`, or `1.53 s` from one second on."""
    return f"{digits(seconds)} s" if seconds >= 0.9995 else f"{digits(seconds * 1000)} ms"


def span(seconds: float) -> str:
    """A length of time: `0.4 s`, `42 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def value(indicator: Indicator, number: float) -> str:
    """A value of an indicator with its unit."""
    match indicator:
        case Indicator.ERROR_RATIO | Indicator.TIMEOUT_RATIO | Indicator.DEGRADED_RATIO:
            return f"{digits(number * 100)} %"
        case Indicator.THROUGHPUT:
            return f"{digits(number, 4)}/s"
        case Indicator.SATURATION:
            return f"{number:.2f}"
        case _:
            return latency(number)


def measurement(indicator: Indicator, measured: Measurement) -> str:
    """The value, `>=` before it if it is only a lower bound; or why there is none."""
    match measured:
        case Absent(reason=reason):
            return reason
        case Measured(value=number, censored=censored):
            return (">= " if censored else "") + value(indicator, number)


def interval(indicator: Indicator, measured: Measurement) -> str:
    """`46.1 ms to 52.3 ms`; an open end is said; empty when there is nothing to bound."""
    match measured:
        case Measured(low=None, high=None) | Absent():
            return ""
        case Measured(low=low, high=None) if low is not None:
            return f"at least {value(indicator, low)}"
        case Measured(low=None, high=high) if high is not None:
            return f"at most {value(indicator, high)}"
        case Measured(low=low, high=high) if low is not None and high is not None and low < high:
            return f"{value(indicator, low)} to {value(indicator, high)}"
        case _:
            return ""
