"""How figures are written for people: in the same words as on the terminal, so that one figure looks like one."""

from __future__ import annotations

import math
from datetime import datetime

from dashboards.report.record import Figure

RATIOS = frozenset({"error_ratio", "timeout_ratio", "degraded_ratio"})


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


def instant(when: datetime) -> str:
    """Second-exact time in UTC."""
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")


def value(indicator: str, number: float) -> str:
    """A value of an indicator with its unit."""
    if indicator in RATIOS:
        return f"{digits(number * 100)} %"
    if indicator == "throughput":
        return f"{digits(number, 4)}/s"
    return f"{number:.2f}" if indicator == "saturation" else latency(number)


def measurement(indicator: str, figure: Figure) -> str:
    """The value, `>=` before it if it is only a lower bound; or why there is none."""
    if figure.value is None:
        return figure.reason or "unknown"
    return (">= " if figure.censored else "") + value(indicator, figure.value)


def interval(indicator: str, figure: Figure) -> str:
    """`46.1 ms to 52.3 ms`; an open end is said; empty when there is nothing to bound."""
    low, high = figure.low, figure.high
    if low is not None and high is not None:
        return f"{value(indicator, low)} to {value(indicator, high)}" if low < high else ""
    if low is not None:
        return f"at least {value(indicator, low)}"
    return "" if high is None else f"at most {value(indicator, high)}"
