"""Every expression of a board with its variables filled in: what tests and the report send to Prometheus."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dashboards.board import Board
from dashboards.panel import Panel, Query
from dashboards.promql import RANGE, STEP, WINDOW

VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")

SCRAPES_A_WINDOW = 4
"""Grafana's rule for `$__rate_interval`: this many scrapes, or the step and one scrape if that is longer."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One query of a panel, ready to be sent as `expr`; its legend still holds `{{label}}`."""

    panel: Panel
    query: Query
    expr: str

    @property
    def key(self) -> str:
        """The panel's key."""
        return self.panel.key

    @property
    def ref(self) -> str:
        """The query's ref in its panel."""
        return self.query.ref

    @property
    def may_be_empty(self) -> str | None:
        """Why a healthy run can have no such series; None: it cannot."""
        return self.query.may_be_empty


def expressions(
    board: Board, window: float, values: Mapping[str, str] | None = None, span: float = 1800, step: float = 5
) -> tuple[Expression, ...]:
    """All queries of the board's panels, in order.

    `window` stands for `$__rate_interval`, in seconds; `values` maps variables to regular expressions, those left out
    stand for everything. `span` is the length of the board's time range in seconds, `step` the graph's.
    """
    chosen = {variable.name: variable.unchosen for variable in board.variables} | dict(values or {})
    return tuple(
        Expression(panel, query, substitute(query.expr, window, chosen, span, step))
        for panel in board.panels
        for query in panel.queries
    )


def allowed_empty(board: Board) -> dict[tuple[str, str], str]:
    """Panel key and query ref to the reason why a healthy run can have no such series."""
    return {
        (panel.key, query.ref): query.may_be_empty
        for panel in board.panels
        for query in panel.queries
        if query.may_be_empty is not None
    }


def substitute(expr: str, window: float, values: Mapping[str, str], span: float = 1800, step: float = 5) -> str:
    """The expression without Grafana's variables; an unknown variable is an error, as an empty text would be a lie."""
    millis = round(window * 1000)
    known = {WINDOW[1:]: f"{millis}ms", f"{WINDOW[1:]}_ms": str(millis), **values}
    known |= {RANGE[1:]: f"{round(span)}s", STEP[1:]: f"{round(step * 1000)}ms"}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in known:
            raise ValueError(f"could not fill in ${name} in {expr}: the board has no such variable")
        return known[name]

    return VARIABLE.sub(value, expr)


def rate_window(step: float, scrape_interval: float) -> float:
    """What Grafana would put for `$__rate_interval`, in seconds."""
    return max(step + scrape_interval, SCRAPES_A_WINDOW * scrape_interval)
