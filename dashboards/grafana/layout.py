"""Where does each panel go on Grafana's grid of 24 columns?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboards.board import Board, Row
from dashboards.panel import Panel

COLUMNS = 24


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle on the grid, in grid units, with what it holds."""

    item: Panel | Row
    x: int
    y: int
    w: int
    h: int


def lay_out(board: Board) -> tuple[Place, ...]:
    """Rows below each other, their panels from left to right, a new line where the next does not fit."""
    return tuple(_rows(board))


def _rows(board: Board) -> Iterator[Place]:
    y = 0
    for row in board.rows:
        yield Place(row, 0, y, COLUMNS, 1)
        y += 1
        x = line_height = 0
        for panel in row.panels:
            if x + panel.width > COLUMNS:
                x, y, line_height = 0, y + line_height, 0
            yield Place(panel, x, y, panel.width, panel.height)
            x, line_height = x + panel.width, max(line_height, panel.height)
        y += line_height
