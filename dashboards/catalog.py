"""All boards; a new one is one more line."""

from __future__ import annotations

from dashboards import load_test
from dashboards.board import Board

BOARDS: tuple[Board, ...] = (load_test.BOARD,)
