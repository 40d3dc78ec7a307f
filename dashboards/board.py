"""What a board is: rows of panels and the variables that narrow them."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards.panel import Panel
from dashboards.promql import Expr

TAG = "stagelight"
"""Every board carries it, and the links between boards find each other by it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A drop-down whose values are a label's values; `All` matches whatever has the label."""

    name: str
    label: str
    values: Expr


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under one heading, filled from left to right; the id shares its space with the panels'."""

    id: int
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """A dashboard. `uid` is fixed for ever and is its file's name as well."""

    uid: str
    title: str
    description: str
    rows: tuple[Row, ...]
    variables: tuple[Variable, ...]

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels, from top to bottom."""
        return tuple(panel for row in self.rows for panel in row.panels)
