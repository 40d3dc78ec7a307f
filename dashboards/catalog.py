"""All boards, the home first; a new one is one more line in `boards`."""

from __future__ import annotations

from dashboards import boards, load_test
from dashboards.board import Board

BOARDS: tuple[Board, ...] = (load_test.BOARD, *boards.ALL)
