from __future__ import annotations

import os
import resource
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from controller.orders import Fault, Interval
from controller.ports import EdgeError
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.target import Target

pytestmark = pytest.mark.slow


def test_a_killed_worker_is_a_fault_and_the_last_one_a_fatal_one(tmp_path: Path) -> None:
    target = Target(delay=0.02)
    with Drive(a_spec(target.url), tmp_path / "locust.log") as drive:
        drive.order(4)
        drive.run(1.5)
        first, second = drive.pids()
        struck = time.time()
        os.kill(first, signal.SIGKILL)
        fault = drive.wait(Fault, 5.0)
        assert time.time() - struck < 3.0
        assert not fault.fatal
        assert "killed by SIGKILL" in fault.what
        assert "in flight" in fault.what
        assert "its share of the load (4 users divided by 2) may be missing from" in fault.what
        assert fault.short is not None
        assert (fault.short.worker, fault.short.share) == ("worker-0", 0.5)
        assert struck - 1.0 < fault.short.since <= fault.short.until < struck + 3.0
        interval = drive.wait(Interval, 3.0, lambda interval: interval.start > struck + 1.0)  # without a new order
        *workers, master = interval.workers
        assert sorted(worker.users for worker in workers) == [0, 4]
        assert [bool(worker.saturation) for worker in workers].count(True) == 1
        assert master.saturation["workers"] >= 1
        metrics = drive.metrics()
        assert metrics["loadgen_workers_expected"] == 2
        assert metrics["loadgen_workers_connected"] == 1
        places = {
            name.partition('worker="')[2].rstrip('"}') for name in metrics if name.startswith("loadgen_saturation")
        }
        assert len(places) == 2  # of the one that is left, and of the master
        os.kill(second, signal.SIGKILL)
        last = drive.wait(Fault, 5.0, lambda fault: fault.fatal)
        assert "no worker is left" in last.what
        drained = drive.drain(1.0)  # what was known is still told
        assert sum(drained.totals.values()) == drained.started
        assert 0 < drained.totals["generator_error"] <= 8
        assert drive.outcomes() == {name: number for name, number in drained.totals.items() if number}
        assert target.count >= drained.totals["ok"] > 0.5 * target.count


def test_a_frozen_worker_is_told_and_comes_back_with_everything_it_counted(tmp_path: Path) -> None:
    target = Target(delay=0.02)
    with Drive(a_spec(target.url), tmp_path / "locust.log") as drive:
        drive.order(4)
        drive.run(1.0)
        victim = drive.pids()[0]
        os.kill(victim, signal.SIGSTOP)
        silent = drive.wait(Fault, 5.0)
        assert not silent.fatal
        assert "has not answered for " in silent.what
        assert "divided among the others" in silent.what
        told = time.time()
        interval = drive.wait(Interval, 4.0, lambda one: one.start > told)
        assert interval.users == 4  # the other one has taken over, without a new order
        drive.order(6, slot=1)  # not held up by the frozen one
        os.kill(victim, signal.SIGCONT)
        drive.wait(Fault, 3.0, lambda fault: "answers again after" in fault.what)
        drive.run(1.5)
        assert drive.intervals()[-1].users == 6
        drained = drive.drain()
        assert drained.totals["ok"] + drained.totals["timeout"] == drained.started == target.count
        assert drive.outcomes() == {name: number for name, number in drained.totals.items() if number}
        assert drive.quit() == 0
    assert len(drive.faults()) == 2


def test_no_descriptor_left_is_the_generators_error_not_the_targets(tmp_path: Path) -> None:
    target = Target(delay=0.02)
    with Drive(a_spec(target.url, workers=1), tmp_path / "locust.log") as drive:
        (worker,) = drive.pids()
        limit = len(list(Path(f"/proc/{worker}/fd").iterdir())) + 5
        resource.prlimit(worker, resource.RLIMIT_NOFILE, (limit, limit))
        drive.order(20)
        drive.run(1.5)
        drained = drive.drain()
        assert drained.totals["ok"] == target.count > 0
        assert drained.totals["generator_error"] > 20
        assert drained.totals["connection_error"] == 0
        assert sum(drained.totals.values()) == drained.started
    assert "Too many open files" in (tmp_path / "locust.log").read_text()


def test_a_worker_that_cannot_work_says_why(tmp_path: Path) -> None:
    spec = a_spec("http://127.0.0.1:1", workers=1)
    headers = (("X-Key", "${env:STAGELIGHT_THERE_IS_NO_SUCH}"),)
    spec = replace(spec, workload=replace(spec.workload, headers=headers))
    drive = Drive(spec, tmp_path / "locust.log")
    with pytest.raises((AssertionError, EdgeError), match="STAGELIGHT_THERE_IS_NO_SUCH"), drive:
        pass
