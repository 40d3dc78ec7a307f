"""Workers of another host: let in by the secret alone, given their share, told when cut off, stopped by themselves."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from controller.generator.members import GONE_SECONDS
from controller.orders import LEASE_SECONDS, Fault, Interval
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.other_host import SECRET, OtherHost, agent, another_host, free_port
from tests.controller.generator.target import Target

pytestmark = pytest.mark.slow


def test_a_worker_of_another_host_shares_the_load_and_is_told_when_it_is_cut_off(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text(SECRET)
    wrong.write_text(SECRET.replace("two", "six"))
    with another_host() as host:
        port = free_port(host)
        target = Target(delay=0.01, host=host.here)
        spec = replace(a_spec(target.url, workers=2), remote=1)
        with agent(host, port, wrong, tmp_path / "wrong.log"), agent(host, port, right, tmp_path / "right.log"):
            _shares_counts_and_ends(Drive(spec, tmp_path / "1.log", bind=(host.here, port), secret_file=right), target)
            before = target.count
            with Drive(spec, tmp_path / "2.log", bind=(host.here, port), secret_file=right) as drive:
                _is_told_when_cut_off(drive, host)
                assert target.count > before
                os.kill(drive.hello.pid, signal.SIGKILL)
                struck = time.time()
                time.sleep(LEASE_SECONDS + 1.5)
                assert struck - 1.0 < target.last < struck + LEASE_SECONDS  # the other host was sending, and no longer
        for log in ("1.log", "2.log"):
            assert (tmp_path / log).read_text().count(" comes from ") == 1


def _shares_counts_and_ends(run: Drive, target: Target) -> None:
    """The first run, which the same command serves before the second."""
    with run as drive:
        assert drive.hello.workers == 2
        drive.order(6)
        drive.run(2.5)
        assert [worker.users for worker in drive.intervals()[-1].workers[:2]] == [3, 3]
        drained = drive.drain()
        assert drained.totals["ok"] == drained.started == target.count > 200
        assert sum(drive.outcomes().values()) == target.count
        assert drive.faults() == []
        assert drive.quit() == 0


def _is_told_when_cut_off(drive: Drive, host: OtherHost) -> None:
    drive.order(6)
    drive.run(1.5)
    host.plug(connected=False)
    cut = time.time()
    fault = drive.wait(Fault, 5.0)
    assert time.time() - cut < 3.0
    assert "has not answered for " in fault.what
    assert "when it was divided among the others" in fault.what
    told = time.time()
    interval = drive.wait(Interval, 4.0, lambda one: one.start > told)
    assert interval.users == 6
    host.plug(connected=True)
    drive.wait(Fault, 10.0, lambda fault: "answers again after" in fault.what)
    drive.run(2.5)
    assert [worker.users for worker in drive.intervals()[-1].workers[:2]] == [3, 3]


def test_a_host_that_dies_is_given_up_and_another_worker_of_it_joins_late(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    with another_host() as host:
        port, target = free_port(host), Target(delay=0.01, host=host.here)
        spec = replace(a_spec(target.url, workers=2), remote=1)
        with agent(host, port, secret, tmp_path / "1.log", ends=-signal.SIGKILL):
            drive = Drive(spec, tmp_path / "locust.log", bind=(host.here, port), secret_file=secret)
            with drive:
                drive.order(6)
                drive.run(1.5)
                host.kill_everything()
                struck = time.time()
                silent = drive.wait(Fault, 3.0)
                assert "worker-1 has not answered for " in silent.what
                with agent(host, port, secret, tmp_path / "2.log"):
                    _comes_late(drive)
                    left = struck + GONE_SECONDS + 3.0 - time.time()
                    gone = drive.wait(Fault, left, lambda fault: "is given up" in fault.what)
                    assert "counted as generator_error" in gone.what
                    drained = drive.drain()
                    assert sum(drained.totals.values()) == sum(drive.outcomes().values()) == drained.started
                    assert 0 < drained.totals["generator_error"] <= 3  # one for each user that was on it
                    assert drive.quit() == 0


def _comes_late(drive: Drive) -> None:
    """It gets the lost one's place under a name of its own, and half of the load."""
    late = drive.wait(Fault, 10.0, lambda fault: "joined late" in fault.what)
    assert late.what.startswith("worker-1-2 ")
    drive.run(2.5)
    workers = {one.worker: one.users for one in drive.intervals()[-1].workers if one.present}
    assert (workers["worker-0"], workers["worker-1-2"]) == (3, 3)
    assert "worker-1" not in workers
