"""One panel's series as a plotly figure: lines, bands, stacks and heatmaps as the board draws them in Grafana."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle, pairwise

from plotly import graph_objects as go

from dashboards import palette
from dashboards.panel import Kind, Panel, Query, Unit
from dashboards.report.series import Line

MARGIN_LEFT = 76
MARGIN_RIGHT = 16
"""Pixels beside the plot, equal in all figures so that their time axes line up."""

LEGEND = {
    "orientation": "h",
    "traceorder": "normal",
    "x": 0,
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
    "font": {"size": 11},
}

TIME_AXIS = {
    "type": "date",
    "hoverformat": "%H:%M:%S",
    "tickformatstops": [
        {"dtickrange": [None, 59_999], "value": "%H:%M:%S"},
        {"dtickrange": [60_000, 86_399_999], "value": "%H:%M"},
        {"dtickrange": [86_400_000, None], "value": "%d %b"},
    ],
}
"""On one line, so that the labels fit below every figure alike; the date is in the report's head."""

MICRO = 1e-6

TICKS = {
    Unit.SECONDS: (".3~s", "s"),
    Unit.PER_SECOND: (".3~s", "/s"),
    Unit.EVENTS: (".3~s", "/s"),
    Unit.SHARE: (".3~%", ""),
    Unit.COUNT: (",.3~f", ""),
    Unit.BYTES: (".3~s", "B"),
    Unit.BYTES_PER_SECOND: (".3~s", "B/s"),
    Unit.HERTZ: (".3~s", "Hz"),
    Unit.WATTS: (",.3~f", " W"),
    Unit.CELSIUS: (",.3~f", " °C"),
}
"""Unit to d3's number format and what follows the number."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The series of one query, in the order of the panel's queries."""

    query: Query
    lines: tuple[Line, ...]


def figure(panel: Panel, drawn: Sequence[Drawn], grid: Sequence[float]) -> go.Figure:
    """The panel over the grid of instants (epoch seconds)."""
    times = [iso(when) for when in grid]
    made = blank(panel.height, legend=panel.kind is not Kind.HEATMAP)
    match panel.kind:
        case Kind.HEATMAP:
            (only,) = drawn
            _heatmap(made, panel, only.lines, times)
        case _:
            _lines(made, panel, drawn, times)
    return made


def blank(height: int, *, legend: bool = True) -> go.Figure:
    """A figure without traces in the house style; `height` in Grafana's grid units."""
    made = go.Figure()
    made.update_layout(
        height=28 * height + 40,
        margin={"l": MARGIN_LEFT, "r": MARGIN_RIGHT, "t": 8, "b": 50 if legend else 26},
        hovermode="x unified" if legend else "closest",
        legend=LEGEND,
        dragmode="zoom",
    )
    made.update_xaxes(**TIME_AXIS)
    made.update_yaxes(fixedrange=True)
    return made


def iso(when: float) -> str:
    """An instant as plotly's date axis reads it, in UTC."""
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def legend_of(query: Query, labels: dict[str, str]) -> str:
    """The legend with the series' labels filled in."""
    return re.sub(r"{{(\w+)}}", lambda found: labels.get(found[1], ""), query.legend)


def _lines(made: go.Figure, panel: Panel, drawn: Sequence[Drawn], times: list[str]) -> None:
    spare = cycle(palette.SERIES)
    tick, suffix = TICKS.get(panel.unit, (",.3~f", ""))
    for part in drawn:
        for line in sorted(part.lines, key=lambda line: _rank(panel, legend_of(part.query, line.labels))):
            name = legend_of(part.query, line.labels)
            colour = part.query.style.colour or _fixed_colour(panel, name) or next(spare)
            made.add_trace(_trace(panel, part.query, name, colour, times, line, f"%{{y:{tick}}}{suffix}"))
    made.update_yaxes(tickformat=tick, ticksuffix=suffix, rangemode="tozero" if panel.minimum == 0 else "normal")
    for threshold in panel.thresholds:
        if threshold.value is not None:
            made.add_hline(y=threshold.value, line={"color": threshold.colour, "width": 1, "dash": "dash"})
            made.update_yaxes(autorangeoptions={"include": [1.05 * threshold.value]})


def _trace(panel: Panel, query: Query, name: str, colour: str, times: list[str], line: Line, hover: str) -> go.Scatter:
    style = query.style
    stacked = panel.stacked and not style.unstacked
    return go.Scatter(
        x=times,
        y=list(line.values),
        name=name,
        mode="lines",
        connectgaps=False,
        line={
            "color": colour,
            "width": 0 if stacked else style.width,
            "dash": "dash" if style.dashed else "solid",
            "shape": "hv" if style.stepped else "linear",
        },
        stackgroup="A" if stacked else None,
        fill="tonexty" if style.band_from else None,
        fillcolor=_transparent(colour, 0.55 if stacked else 0.22) if style.band_from or stacked else None,
        showlegend=style.in_legend,
        hovertemplate=hover,
    )


def _rank(panel: Panel, name: str) -> tuple[int, str]:
    """Series with a colour of their own in the order of these colours, then the others by name."""
    names = [wanted for wanted, _ in panel.colours]
    return (names.index(name) if name in names else len(names), name)


def _fixed_colour(panel: Panel, name: str) -> str | None:
    return next((colour for wanted, colour in panel.colours if wanted == name), None)


def _transparent(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _heatmap(made: go.Figure, panel: Panel, lines: Sequence[Line], times: list[str]) -> None:
    """Cells between bucket bounds, each bucket equally high: bounds grow by a factor, so the axis is logarithmic."""
    scale = MICRO if panel.unit is Unit.MICROSECONDS else 1.0
    edges, rows = _cells(lines)
    names = [_duration(edge * scale) for edge in edges]
    made.add_trace(
        go.Heatmap(
            x=times,
            y=[number + 0.5 for number in range(len(rows))],
            z=rows,
            customdata=[[f"{low} to {high}"] * len(times) for low, high in pairwise(names)],
            colorscale=[[0, "rgba(63,131,224,0.06)"], [0.25, "#3f83e0"], [0.6, "#9a6ad6"], [1, "#e0364c"]],
            showscale=False,
            hovertemplate="%{x|%H:%M:%S}, %{customdata}<br>%{z:.3~s} requests/s<extra></extra>",
            ygap=1,
            hoverongaps=False,
        )
    )
    every = max(1, math.ceil(len(names) / 8))
    shown = range(0, len(names), every)
    made.update_yaxes(tickvals=list(shown), ticktext=[names[number] for number in shown], range=[0, max(1, len(rows))])


def _cells(lines: Sequence[Line]) -> tuple[list[float], list[list[float | None]]]:
    """Bounds in order and, between two of them, the bucket's own rate at each instant; only where something is."""
    ordered = sorted((float(line.labels["le"]), line.values) for line in lines)
    below: tuple[float | None, ...] = (0.0,) * len(ordered[0][1]) if ordered else ()
    rows: list[list[float | None]] = []
    for _, values in ordered:
        rows.append([_difference(value, lower) for value, lower in zip(values, below, strict=True)])
        below = values
    filled = [number for number, row in enumerate(rows) if any(row)]
    first, last = (max(0, filled[0] - 1), filled[-1] + 1) if filled else (0, 0)
    edges = [0.0, *(bound for bound, _ in ordered)]
    return edges[first : last + 2], rows[first : last + 1]


def _difference(value: float | None, lower: float | None) -> float | None:
    """What the bucket alone holds; nothing is drawn as nothing."""
    if value is None or lower is None:
        return None
    return max(0.0, value - lower) or None


def _duration(seconds: float) -> str:
    if seconds == 0 or math.isinf(seconds):
        return "more" if seconds else "0"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
