"""Where does each panel go on Grafana's grid of 24 columns?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboards.board import Board, Row
from dashboards.panel import Panel

COLUMNS = 24

FOLD = 24
"""Grid units of 38 pixels that a screen of 1080 lines shows below Grafana's own bars."""


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle on the grid, in grid units, with what it holds."""

    item: Panel | Row
    x: int
    y: int
    w: int
    h: int


def lay_out(board: Board) -> tuple[Place, ...]:
    """Rows below each other, their panels from left to right, a new line where the next does not fit.

    Panels of a closed row lie where they will be once it is opened, and take no room until then.
    """
    return tuple(_rows(board))


def above_the_fold(board: Board) -> tuple[Panel, ...]:
    """The panels that a screen shows, if only in part, before anybody scrolls."""
    opened = set(board.opened)
    places = lay_out(board)
    return tuple(p.item for p in places if isinstance(p.item, Panel) and p.item in opened and p.y < FOLD)


def _rows(board: Board) -> Iterator[Place]:
    y = 0
    for row in board.rows:
        yield Place(row, 0, y, COLUMNS, 1)
        y += 1
        below = y
        x = line_height = 0
        for panel in row.panels:
            if x + panel.width > COLUMNS:
                x, y, line_height = 0, y + line_height, 0
            yield Place(panel, x, y, panel.width, panel.height)
            x, line_height = x + panel.width, max(line_height, panel.height)
        y = y + line_height if row.opened else below
