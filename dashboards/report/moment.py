"""Numbers, states, tables and points of a board, for where there is no Grafana: as HTML or figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from plotly import graph_objects as go

from dashboards import palette
from dashboards.panel import Column, Panel, Query, Unit
from dashboards.report.markup import Markup, element, table, text
from dashboards.report.picture import TICKS, Drawn, blank, iso, legend_of
from dashboards.report.series import Line

SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def last(values: Sequence[float | None]) -> float | None:
    """The newest value there is."""
    return next((value for value in reversed(values) if value is not None), None)


def stat(panel: Panel, drawn: Sequence[Drawn]) -> Markup:
    """The number of this moment in the colour of its threshold, or the words for its absence."""
    lines = [line for part in drawn for line in part.lines if last(line.values[-1:]) is not None]
    if not lines:
        return element("div", text(panel.no_value), cls="number", style=f"color:{palette.DEAD}")
    if panel.labels:
        return element("div", *(_label(panel, lines[0], name) for name in panel.labels), cls="number")
    value = lines[0].values[-1] or 0.0
    state = next((state for state in panel.states if state.value == value), None)
    words, colour = (state.text, state.colour) if state else (number(value, panel.unit), _threshold(panel, value))
    return element("div", text(words), cls="number", style=f"color:{colour}" if colour else "")


def rows(panel: Panel, drawn: Sequence[Drawn]) -> Markup:
    """A table: a row for each set of labels that the panel's columns name."""
    keys = [column.source for column in panel.columns if column.source not in {part.query.ref for part in drawn}]
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for part in drawn:
        for line in part.lines:
            value = last(line.values[-1:])
            own = [key for key in keys if key in line.labels]
            matching = [row for row in found.values() if all(row.get(k, line.labels[k]) == line.labels[k] for k in own)]
            if value is None:
                continue
            if not matching:
                matching = [found.setdefault(tuple(line.labels[k] for k in own), {})]
            for row in matching:
                row.update({k: line.labels[k] for k in own})
                row[part.query.ref] = number(value, _unit(panel, part.query))
    heads = [column.title for column in panel.columns]
    return table(heads, ([_cell(column, row) for column in panel.columns] for row in found.values()))


def states(panel: Panel, drawn: Sequence[Drawn], grid: Sequence[float]) -> go.Figure:
    """A row for each series, a bar for as long as its state lasts."""
    made = blank(panel.height, legend=False)
    step = grid[1] - grid[0] if len(grid) > 1 else 1.0
    named = {state.value: state for state in panel.states}
    for part in drawn:
        for line in part.lines:
            row = legend_of(part.query, line.labels)
            for begin, end, value in spells(line.values, grid, step):
                state = named.get(round(value))
                label, colour = (state.text, state.colour) if state else (f"{value:g}", palette.DEAD)
                made.add_trace(
                    go.Bar(
                        x=[(end - begin) * 1000],
                        base=[iso(begin)],
                        y=[row],
                        orientation="h",
                        marker={"color": colour, "line": {"width": 0}},
                        text=[label],
                        textposition="inside",
                        insidetextanchor="middle",
                        textfont={"color": "#ffffff"},
                        showlegend=False,
                    )
                )
    made.update_yaxes(autorange="reversed")
    made.update_layout(barmode="overlay", bargap=0.15, uniformtext={"minsize": 9, "mode": "hide"})
    return made


def spells(values: Sequence[float | None], grid: Sequence[float], step: float) -> Iterator[tuple[float, float, float]]:
    """Begin, end and value of each stretch of equal values."""
    begin: float | None = None
    current: float | None = None
    for when, value in zip(grid, values, strict=True):
        if value != current:
            if begin is not None and current is not None:
                yield begin, when, current
            begin, current = when, value
    if begin is not None and current is not None:
        yield begin, grid[-1] + step, current


def points(panel: Panel, drawn: Sequence[Drawn]) -> go.Figure:
    """The first query to the right, the others upwards, a point for each instant that has both."""
    made = blank(panel.height)
    by_ref = {part.query.ref: part for part in drawn}
    first, *others = panel.queries
    across = {line.labels.get("run_id", ""): line.values for line in by_ref[first.ref].lines}
    for index, query in enumerate(others):
        for place, line in enumerate(by_ref[query.ref].lines if query.ref in by_ref else ()):
            run = line.labels.get("run_id", "")
            both = zip(across.get(run, ()), line.values, strict=False)
            pairs = [(x, y) for x, y in both if x is not None and y is not None]
            made.add_trace(
                go.Scatter(
                    x=[x for x, _ in pairs],
                    y=[y for _, y in pairs],
                    name=f"{query.legend} {run}",
                    mode="markers",
                    marker={"size": 6, "color": query.style.colour or _spare(index + place * len(others))},
                )
            )
    tick, suffix = TICKS.get(panel.x_unit, (",.3~f", ""))
    made.update_xaxes(type="linear", title=first.legend, tickformat=tick, ticksuffix=suffix, rangemode="tozero")
    tick, suffix = TICKS.get(panel.unit, (",.3~f", ""))
    made.update_yaxes(tickformat=tick, ticksuffix=suffix, rangemode="tozero")
    made.update_layout(hovermode="closest")
    return made


def _spare(place: int) -> str:
    return palette.SERIES[place % len(palette.SERIES)]


def number(value: float, unit: Unit) -> str:
    """A value as a person reads it."""
    match unit:
        case Unit.SHARE:
            return f"{100 * value:.3g} %"
        case Unit.SECONDS | Unit.CLOCK:
            return _duration(value)
        case Unit.INSTANT:
            return datetime.fromtimestamp(value / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        case Unit.PER_SECOND | Unit.EVENTS:
            return f"{value:,.1f}/s"
        case _:
            scale, letter = next(((size, name) for size, name in SCALES if abs(value) >= 10 * size), (1.0, ""))
            return f"{value / scale:,.4g}{letter}"


def _duration(seconds: float) -> str:
    if abs(seconds) >= 60:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s"
    return f"{seconds:.3g} s" if abs(seconds) >= 1 or seconds == 0 else f"{1000 * seconds:.3g} ms"


def _label(panel: Panel, line: Line, name: str) -> Markup:
    value = line.labels.get(name, "")
    colour = dict(panel.colours).get(value)
    return element("div", text(value), style=f"color:{colour}" if colour else "")


def _threshold(panel: Panel, value: float) -> str | None:
    passed = [step.colour for step in panel.thresholds if step.value is None or value >= step.value]
    return passed[-1] if passed else None


def _unit(panel: Panel, query: Query) -> Unit:
    return next((column.unit for column in panel.columns if column.source == query.ref), panel.unit)


def _cell(column: Column, row: dict[str, str]) -> Markup:
    value = row.get(column.source, "-")
    return text(dict(column.texts).get(value, value))
