"""What a board is: rows of panels and the variables that narrow them."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards.panel import Panel
from dashboards.promql import EVERYTHING, Expr

TAG = "stagelight"
"""Every board carries it, and the links between boards find each other by it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A drop-down whose values are a label's values; `All` matches whatever has the label.

    `many` False: exactly one value at a time. `regex` takes the value out of what the query gives. `hidden`: computed,
    nobody chooses it. `unchosen` is the value that stands for no choice.
    """

    name: str
    label: str
    values: Expr
    many: bool = True
    regex: str = ""
    hidden: bool = False
    unchosen: str = EVERYTHING


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under one heading, filled from left to right; the id shares its space with the panels'.

    A row that is not `opened` shows its heading alone, and asks nothing, until somebody opens it.
    """

    id: int
    title: str
    panels: tuple[Panel, ...]
    opened: bool = True


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

    @property
    def opened(self) -> tuple[Panel, ...]:
        """The panels of the rows that are open at first."""
        return tuple(panel for row in self.rows if row.opened for panel in row.panels)
