"""How the screen of a verdict writes figures into the cells of its tables."""

from __future__ import annotations

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table

from controller.figures import wording
from controller.figures.enough import fewest
from controller.figures.measurement import Absent, Measured, Measurement
from controller.plans.criterion import Indicator

ABSENT = "-"
MOST_ROWS = 12
"""Objectives and reasons beyond so many are counted, not listed: the rest is in the record."""

LATENCIES = (
    Indicator.P50,
    Indicator.P95,
    Indicator.P99,
    Indicator.P999,
    Indicator.MEAN,
    Indicator.MAX,
)


def columns(*heads: str) -> Table:
    """An empty table with these heads, the first column to the left."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False, show_edge=False)
    for number, column in enumerate(heads):
        table.add_column(column, justify="right" if number else "left", no_wrap=number > 0, overflow="fold")
    return table


def block(table: Table) -> RenderableType:
    """A table with a line before it."""
    return Padding(table, (1, 0, 0, 0))


def cell(indicator: Indicator, measured: Measurement) -> str:
    """A measurement with its unit, or how many requests it would need."""
    match measured:
        case Absent(n=0):
            return ABSENT
        case Absent():
            return _too_few(indicator)
        case _:
            return wording.measurement(indicator, measured)


def ms(indicator: Indicator, measured: Measurement) -> str:
    """A latency in milliseconds."""
    match measured:
        case Measured(value=value, censored=censored):
            return (">=" if censored else "") + wording.digits(value * 1000)
        case Absent(n=0):
            return ABSENT
        case Absent():
            return _too_few(indicator)


def ms_interval(measured: Measurement) -> str:
    """A latency's interval in milliseconds."""
    match measured:
        case Measured(low=float() as low, high=float() as high):
            return f"{wording.digits(low * 1000)}..{wording.digits(high * 1000)}"
        case Measured(low=float() as low):
            return f">={wording.digits(low * 1000)}"
        case _:
            return ABSENT


def _too_few(indicator: Indicator) -> str:
    """How many requests the quantile would need: `n<10,000`."""
    return f"n<{fewest(indicator):,}"


def percent(ratio: float, count: int) -> str:
    """One digit after the point is enough, but a few requests must not look like none."""
    text = f"{ratio * 100:.1f} %"
    return "<0.1 %" if count and text == "0.0 %" else text
