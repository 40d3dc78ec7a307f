"""Half a core for the whole generator: too little for the load, yet every request is counted and the lease holds."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from controller.orders import LEASE_SECONDS
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.target import Target
from tests.needs import missing

pytestmark = pytest.mark.slow

PERIOD_US = 100_000
GROUPS = Path("/sys/fs/cgroup/cpu")


@contextmanager
def half_a_core(pids: list[int]) -> Iterator[None]:
    """A control group (version 1) of our own with a quota of half a core, for these processes together."""
    folder = GROUPS / f"stagelight-half-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (folder / "cpu.cfs_quota_us").write_text(str(PERIOD_US // 2))
    except OSError as error:
        missing(f"a control group with a quota needs root and cgroup version 1: {error}")
    try:
        for number in pids:
            (folder / "cgroup.procs").write_text(str(number))
        yield
    finally:
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                (GROUPS / "cgroup.procs").write_text(pid)
        folder.rmdir()


def test_under_a_quota_of_half_a_core_books_balance_and_the_lease_holds(tmp_path: Path) -> None:
    target = Target()
    with Drive(a_spec(target.url), tmp_path / "locust.log") as drive, half_a_core([drive.hello.pid, *drive.pids()]):
        drive.order(40)
        drive.run(2.5)
        workers = [worker for interval in drive.intervals() for worker in interval.workers]
        assert any(value >= 1 for one in workers for value in one.saturation.values())  # it says that it has too little
        drive.leasing = False
        ended = time.time()
        drive.run(LEASE_SECONDS + 0.5)
        assert target.last < ended + LEASE_SECONDS

    with Drive(a_spec(target.url), tmp_path / "2.log") as drive, half_a_core([drive.hello.pid, *drive.pids()]):
        before = target.count
        drive.order(40)
        drive.run(2.0)
        drained = drive.drain(10.0)
        assert sum(drained.totals.values()) == drained.started == target.count - before > 0
        assert drive.outcomes() == {name: number for name, number in drained.totals.items() if number}
        assert drained.totals["generator_error"] == 0
        assert drive.quit() == 0
