"""The run's phases on the time axis: a strip above the figures, and shades behind every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plotly import graph_objects as go

from dashboards import palette
from dashboards.report.picture import MARGIN_LEFT, MARGIN_RIGHT, TIME_AXIS, iso
from dashboards.report.record import Run, Slot

SHADE = 0.10
"""Opacity of a phase behind a figure."""


def strip(run: Run) -> go.Figure:
    """Slots as they took effect, and below them the windows that were measured."""
    made = go.Figure()
    for slot, begin, end in acknowledged(run):
        label = f"{slot.stage} · {slot.phase}" if slot.stage != slot.phase else slot.phase
        made.add_trace(_bar("phase", begin, end, colour(slot.phase), label, _users(slot)))
    for window in run.windows:
        begin, end = window.start.timestamp(), window.end.timestamp()
        made.add_trace(_bar("measured", begin, end, palette.TEAL, window.name, f"{window.seconds:.1f} s measured"))
        if window.cut is not None:
            begin, end = window.cut.start.timestamp(), window.cut.end.timestamp()
            made.add_trace(_bar("measured", begin, end, palette.DEAD, "cut", window.cut.because))
    made.update_layout(
        height=96,
        margin={"l": MARGIN_LEFT, "r": MARGIN_RIGHT, "t": 4, "b": 24},
        barmode="overlay",
        bargap=0.12,
        showlegend=False,
        uniformtext={"minsize": 10, "mode": "hide"},
        hovermode="closest",
        dragmode="zoom",
    )
    made.update_xaxes(**TIME_AXIS)
    made.update_yaxes(categoryorder="array", categoryarray=["measured", "phase"], fixedrange=True)
    return made


def shades(run: Run) -> list[dict[str, Any]]:
    """Plotly shapes, one a slot, to lie behind a figure."""
    return [
        {
            "type": "rect",
            "layer": "below",
            "xref": "x",
            "yref": "paper",
            "x0": iso(begin),
            "x1": iso(end),
            "y0": 0,
            "y1": 1,
            "fillcolor": colour(slot.phase),
            "opacity": SHADE,
            "line": {"width": 0},
        }
        for slot, begin, end in acknowledged(run)
    ]


def acknowledged(run: Run) -> Iterator[tuple[Slot, float, float]]:
    """The slots that took effect, with begin and end in epoch seconds; one that was never closed ends with the run."""
    for slot in run.timetable:
        if slot.started:
            begin = slot.started.timestamp()
            yield slot, begin, max(begin, (slot.ended or run.ended).timestamp())


def colour(phase: str) -> str:
    """The phase's colour, the same as on the boards."""
    return palette.PHASES.get(phase, palette.DEAD)


def _users(slot: Slot) -> str:
    start, end = slot.load
    load = end if start == end else f"{start} to {end}"
    return load if slot.arrivals is not None else f"{load} users"


def _bar(row: str, begin: float, end: float, fill: str, label: str, more: str) -> go.Bar:
    return go.Bar(
        x=[max(1.0, (end - begin) * 1000)],
        base=[iso(begin)],
        y=[row],
        orientation="h",
        marker={"color": fill, "line": {"width": 0}},
        text=[label],
        textposition="inside",
        insidetextanchor="middle",
        textfont={"color": "#ffffff"},
        hovertemplate=f"{label}<br>{more}<br>{end - begin:.1f} s<extra></extra>".replace("%{", "% {"),
    )
