"""The two most frequent kinds of panel, so that an entry says only what is its own."""

from __future__ import annotations

from dataclasses import replace

from dashboards import palette
from dashboards.panel import Kind, Panel, Query, State, Style, Threshold, Unit
from dashboards.promql import Expr

HALF = 12
"""Columns of a graph that stands beside another one."""

TO_LIMIT = (Threshold(None, palette.GOOD), Threshold(0.8, palette.WARN), Threshold(1, palette.BAD))
"""Of shares of a limit."""

NONE_IS_GOOD = (Threshold(None, palette.GOOD), Threshold(1e-9, palette.BAD))
"""Of counts of what should never happen."""


def now(
    number: int,
    key: str,
    title: str,
    question: str,
    bad: str,
    unit: Unit,
    expr: Expr,
    *,
    absent: str | None = None,
    thresholds: tuple[Threshold, ...] = (),
    states: tuple[State, ...] = (),
    labels: tuple[str, ...] = (),
    colours: tuple[tuple[str, str], ...] = (),
    decimals: int | None = None,
    no_value: str = "no data",
    width: int = 3,
) -> Panel:
    """One number of this moment."""
    return Panel(
        number,
        key,
        title,
        question,
        bad,
        unit,
        Kind.STAT,
        (Query("A", expr, title, absent),),
        thresholds=thresholds,
        states=states,
        labels=labels,
        colours=colours,
        decimals=decimals,
        no_value=no_value,
        width=width,
        height=4,
    )


def lines(
    number: int,
    key: str,
    title: str,
    question: str,
    bad: str,
    unit: Unit,
    *queries: Query,
    width: int = 24,
    height: int = 7,
    stacked: bool = False,
    thresholds: tuple[Threshold, ...] = (),
    colours: tuple[tuple[str, str], ...] = (),
    no_value: str = "no data",
    minimum: float | None = 0,
) -> Panel:
    """Figures over time."""
    return Panel(
        number,
        key,
        title,
        question,
        bad,
        unit,
        Kind.LINES,
        queries,
        thresholds=thresholds,
        colours=colours,
        width=width,
        height=height,
        stacked=stacked,
        no_value=no_value,
        minimum=minimum,
    )


def beside(panel: Panel, height: int) -> Panel:
    """The panel as one of two that stand beside each other."""
    return replace(panel, width=HALF, height=height)


def quarter(panel: Panel) -> Panel:
    """The number as one of four in a line, which is what its title has room in."""
    return replace(panel, width=6, height=3)


def coloured(ref: str, expr: Expr, legend: str, colour: str, absent: str | None = None) -> Query:
    """A query whose line has a colour of its own; an empty one leaves the choice to the palette."""
    return Query(ref, expr, legend, absent, Style(colour or None))
