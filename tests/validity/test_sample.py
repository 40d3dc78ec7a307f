"""Six runs of the matrix, short: two of a well generator, three of a poisoned one, one of a slow server.

The machine may be busy with other tests, so nothing is asked about how soon a poison is seen, and what only a busy
machine raises has its limit lifted where a run has to be called well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.needs import missing
from tests.validity.__main__ import played_apart
from tests.validity.scoring import Row
from tests.validity.table import CASES, SAMPLE

pytestmark = pytest.mark.slow

BUSY_MACHINE = {"behind_schedule", "rate_off", "reports_lost", "health_unknown", "dropped_no_slot", "arrivals_dropped"}
"""What a machine that serves two test processes may do to any run."""

Rows = Mapping[str, Row]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """All six, two at a time."""
    results = tmp_path_factory.mktemp("validity")
    found: dict[str, Row] = {}
    with ThreadPoolExecutor(2) as pool:
        for pair in SAMPLE:
            for name, why in zip(pair, pool.map(lambda name: _play(name, results), pair), strict=True):
                if why:
                    missing(f"{name} could not be played: {why}")
                found[name] = Row(**json.loads((results / f"{name}.json").read_text()))
    return found


def _play(name: str, results: Path) -> str:
    return played_apart(CASES[name], results, brief=True)


@pytest.mark.parametrize("name", [name for pair in SAMPLE for name in pair if CASES[name].kind == "poisoned"])
def test_a_poisoned_generator_is_flagged_live_and_for_the_right_reason(rows: Rows, name: str) -> None:
    row, right = rows[name], set(CASES[name].right)
    assert row.flagged, row
    assert row.ruling == "invalid", row
    assert right & set(row.named), row
    if not right & set(row.before):  # neighbours may have brought the signal to its limit before the poison did
        assert row.right, row
        assert row.where in ("metric", "annotation"), row


@pytest.mark.parametrize("name", [name for pair in SAMPLE for name in pair if CASES[name].kind != "poisoned"])
def test_a_well_generator_is_not_flagged_also_where_the_server_is_slow(rows: Rows, name: str) -> None:
    row = rows[name]
    assert row.outcome == "completed", row
    assert set(row.named) <= BUSY_MACHINE, row
