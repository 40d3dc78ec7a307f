from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from controller.plans.plan import Target as PlanTarget
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.target import Target

pytestmark = pytest.mark.slow


def test_a_drain_waits_for_a_slow_target_and_loses_nothing(tmp_path: Path) -> None:
    target = Target(delay=1.2)
    with Drive(a_spec(target.url, workers=1), tmp_path / "locust.log") as drive:
        drive.order(6, slot=1)
        drive.run(0.5)
        drive.order(2, slot=2)  # four leave, but finish what they asked for
        drive.run(0.2)
        began = time.time()
        drained = drive.drain(timeout=3.0)
        assert 0.2 < drained.at - began < 1.0  # as long as the slowest answer takes, not as long as it may
        assert target.count == 6
        assert drive.outcomes(slot=1) == Counter(ok=6)  # attributed to the slot in which they started
        assert drained.totals["ok"] == drained.started == 6
        assert drained.aborted == 0


def test_a_drain_right_after_a_second_leaves_that_second_its_users(tmp_path: Path) -> None:
    """A second is told a moment after its end, and by then everybody may have left."""
    target = Target()
    with Drive(a_spec(target.url, workers=1, think_time=(timedelta(milliseconds=20),) * 2), tmp_path / "log") as drive:
        drive.order(5)
        drive.run(2.0 - time.time() % 1.0 + 0.05)
        drive.drain()
        whole = [found for found in drive.intervals() if found.end - found.start > 0.99]
        assert [found.users for found in whole][-1:] == [5]


def test_what_is_still_in_flight_after_the_drain_is_cut_and_counted(tmp_path: Path) -> None:
    target = Target(delay=30.0)
    spec = a_spec(target.url, workers=1, timeout=timedelta(seconds=60))
    with Drive(spec, tmp_path / "locust.log") as drive:
        drive.order(5)
        drive.run(0.5)
        drained = drive.drain(timeout=0.5)
        assert drained.aborted == 5
        assert drained.totals["generator_error"] == drained.started == target.count == 5
        assert drive.outcomes() == Counter(generator_error=5)
        (interval,) = (interval for interval in drive.intervals() if interval.cells)
        assert all(us >= 900_000 for cell in interval.cells for us in cell.counts)
        assert drive.quit() == 0


def test_thinking_users_leave_at_once_and_do_not_keep_in_step(tmp_path: Path) -> None:
    target = Target()
    second = timedelta(seconds=1)
    spec = a_spec(target.url, workers=1, think_time=(second, second), path="/score")
    spec = replace(spec, target=PlanTarget("http", target.url))
    with Drive(spec, tmp_path / "locust.log") as drive:
        drive.order(40)
        drive.run(0.5)
        assert 8 <= target.count <= 32  # half of them, not all in the first moment
        drive.run(2.0)
        began = time.time()
        drained = drive.drain()
        assert drained.at - began < 0.5
        assert drained.totals["ok"] == target.count
        assert 80 <= target.count <= 120
        assert target.heads[0].startswith(b"POST /score HTTP/1.1\r\n")
