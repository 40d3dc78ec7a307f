"""The client's own account of the run, second by second, out of `seconds.csv`: it needs no Prometheus."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plotly import graph_objects as go

from dashboards import palette
from dashboards.panel import Unit
from dashboards.report.picture import TICKS, blank, iso

FILE = "seconds.csv"
MOST_POINTS = 3600
"""Points in a line; a longer run is drawn in spans of several seconds."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Columns of the file by name, one value a span of `every` rows; None where a value is unknown.

    Counts are sums over the span, everything else is its largest value: quantiles are never averaged.
    """

    every: int
    columns: dict[str, tuple[float | None, ...]]

    def rate(self, name: str) -> tuple[float | None, ...]:
        """A count per second."""
        spans = zip(self.columns[name], self.columns["start"], self.columns["end"], strict=True)
        return tuple(_per_second(number, start, end) for number, start, end in spans)


def read(folder: Path) -> Seconds | None:
    """The run's seconds; None if there is no such file, or none that can be read."""
    try:
        with (folder / FILE).open(newline="") as file:
            rows = [{key: _number(field) for key, field in row.items()} for row in csv.DictReader(file)]
    except (OSError, ValueError):
        return None
    if not rows or not {"start", "end", "ok", "errors", "users", "p50", "p99"} <= set(rows[0]):
        return None
    every = math.ceil(len(rows) / MOST_POINTS)
    spans = [rows[begin : begin + every] for begin in range(0, len(rows), every)]
    return Seconds(every, {name: tuple(_join(name, span) for span in spans) for name in rows[0]})


def rates(seconds: Seconds) -> go.Figure:
    """Good answers and failures per second."""
    made = _figure(7, Unit.PER_SECOND)
    _line(made, seconds, "ok", seconds.rate("ok"), palette.GOOD, Unit.PER_SECOND)
    _line(made, seconds, "errors", seconds.rate("errors"), palette.BAD, Unit.PER_SECOND)
    return made


def latencies(seconds: Seconds) -> go.Figure:
    """Exact quantiles of each second."""
    made = _figure(8, Unit.SECONDS)
    worst = f", worst of {seconds.every} s" if seconds.every > 1 else ""
    for name in ("p50", "p99"):
        _line(made, seconds, name + worst, seconds.columns[name], palette.QUANTILES[name], Unit.SECONDS)
    return made


def _figure(height: int, unit: Unit) -> go.Figure:
    tick, suffix = TICKS[unit]
    made = blank(height)
    made.update_yaxes(tickformat=tick, ticksuffix=suffix, rangemode="tozero")
    return made


def _line(
    made: go.Figure, seconds: Seconds, name: str, values: Sequence[float | None], colour: str, unit: Unit
) -> None:
    tick, suffix = TICKS[unit]
    made.add_trace(
        go.Scatter(
            x=[iso(end) for end in seconds.columns["end"] if end is not None],
            y=list(values),
            name=name,
            mode="lines",
            line={"color": colour, "width": 1.5},
            connectgaps=False,
            hovertemplate=f"%{{y:{tick}}}{suffix}",
        )
    )


def _join(name: str, span: Sequence[dict[str, float | None]]) -> float | None:
    known = [value for row in span if (value := row[name]) is not None]
    if not known:
        return None
    match name:
        case "start":
            return min(known)
        case "ok" | "errors" | "timeouts":
            return sum(known)
        case _:
            return max(known)


def _per_second(number: float | None, start: float | None, end: float | None) -> float | None:
    return None if number is None or start is None or end is None or end <= start else number / (end - start)


def _number(field: str | None) -> float | None:
    return float(field) if field else None
