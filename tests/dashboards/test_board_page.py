"""A board drawn without Grafana: numbers, states, tables and points say what the store holds."""

from __future__ import annotations

import json
import re

import pytest

from dashboards.boards import CAPACITY
from dashboards.catalog import BOARDS
from dashboards.load_test import BOARD
from dashboards.panel import Kind, Unit
from dashboards.report.board_page import render_board
from dashboards.report.fetch import Span, fetch
from dashboards.report.moment import number, spells
from tests.dashboards.archived_run import words
from tests.dashboards.conftest import Archived
from tests.dashboards.synthetic_run import RUN_ID


@pytest.fixture(scope="module")
def pages(archived: Archived) -> dict[str, str]:
    """Every board in the middle of the peak, by uid."""
    span = Span(archived.start - 10, archived.start + 250, 5)
    asked = {"run": RUN_ID, "other": RUN_ID, "shift": "1"}
    made = {}
    for board in BOARDS:
        values = {variable.name: asked[variable.name] for variable in board.variables if not variable.many}
        made[board.uid] = render_board(board, fetch(archived.store.url, board, span, values, tuple(Kind)))
    return made


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_every_panel_has_its_place_and_its_title(pages: dict[str, str], board: object) -> None:
    for each in BOARDS:
        if each is board:
            page = pages[each.uid]
            assert re.findall(r'<article class="panel" id="([^"]+)"', page) == [panel.key for panel in each.panels]
            assert "not by Grafana" in words(page)


def test_the_numbers_of_the_moment_are_those_of_the_store(pages: dict[str, str]) -> None:
    said = " ".join(words(pages[BOARD.uid]).split())
    assert "Phase now peak steady" in said
    assert "Load left 50 s" in said
    assert "Verdict none yet" in said
    assert "Saturation 53.3 %" in said


def test_states_last_as_long_as_their_values(pages: dict[str, str]) -> None:
    """A series that ends is seen for ten seconds more: that is how long this store looks back."""
    lasted = {bar["y"][0]: (bar["text"][0], float(bar["x"][0]) / 1000) for bar in figure(pages[BOARD.uid], "phases")}
    for stage, phase, seconds in (("warm", "warmup", 30), ("climb", "steady", 120), ("peak", "steady", 105)):
        assert lasted[stage][0] == phase
        assert seconds <= lasted[stage][1] <= seconds + 10


def test_points_pair_the_two_figures_of_each_run(pages: dict[str, str]) -> None:
    page = pages[CAPACITY.uid]
    assert "No run" in words(page), "the synthetic controller does not say that a run is on"


def test_a_value_is_said_in_its_unit() -> None:
    assert number(0.0123, Unit.SECONDS) == "12.3 ms"
    assert number(75, Unit.CLOCK) == "1 min 15 s"
    assert number(0.5, Unit.SHARE) == "50 %"
    assert number(25e9, Unit.BYTES) == "25G"
    assert number(1_893_456_000_000, Unit.INSTANT) == "2030-01-01 00:00:00"


def test_a_hole_ends_a_state() -> None:
    assert list(spells([1, 1, None, 2, 2], [0, 5, 10, 15, 20], 5)) == [(0, 10, 1), (15, 25, 2)]


def figure(page: str, key: str) -> list[dict[str, list[str]]]:
    """The traces of one panel."""
    found = re.search(rf'<script type="application/json" id="figure-{key}">(.*?)</script>', page, re.S)
    assert found
    traces: list[dict[str, list[str]]] = json.loads(found[1])["data"]
    return traces
