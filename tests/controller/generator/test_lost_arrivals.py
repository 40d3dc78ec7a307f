"""An open loop whose workers freeze and die: the others send their part, nobody sends twice, all is counted."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from controller.orders import Fault, Interval
from controller.plans.arrivals import Arrivals
from tests.compose.targets.tfserving_standin.running import a_stand_in, requests_in
from tests.controller.generator.drive import Drive
from tests.controller.generator.test_open_loop import arrive, driven

pytestmark = pytest.mark.slow

RATE = 100
SEEN_SECONDS = 3.5
"""Three are promised; half a second is for a busy machine."""

AFTER_SECONDS = 1.5
"""After a worker woke up: how long nothing may come twice."""


def test_arrivals_of_frozen_and_killed_workers_are_taken_over_once(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with a_stand_in("--log", str(log)) as stand_in, driven(stand_in, tmp_path, 2) as drive:
        arrive(drive, Arrivals(RATE, RATE, 0), 0, measured=True)
        drive.run(1.0)
        first, second = drive.pids()
        spans = [_freeze(drive, first, seconds) for seconds in (2.0, 5.0)]
        killed = time.time()
        os.kill(second, signal.SIGKILL)
        died = drive.wait(Fault, 5.0, lambda fault: "killed" in fault.what)
        drive.run(1.8)
        ended = time.time()
        arrive(drive, None, 1)
        drained = drive.drain()
        stand_in.settled()
        assert died.short is not None
        spans.append((killed, died.short.until, ended))
        came = [line["arrival"] for line in requests_in(log)]
        _taken_over(came, spans)

        assert sum(drained.totals.values()) == drained.started
        assert drive.outcomes() == {name: number for name, number in drained.totals.items() if number}
        assert drained.started >= drained.totals["ok"] > 0.6 * len(came)
        assert drained.totals["ok"] <= len(came) <= drained.started + RATE  # the killed one's last second is not known


def _freeze(drive: Drive, pid: int, seconds: float) -> tuple[float, float, float]:
    """Stop a worker for a while: when it stopped, when its share was divided, and when it was woken up."""
    told = len(_of_first(drive))
    os.kill(pid, signal.SIGSTOP)
    struck = time.time()
    drive.wait(Fault, 5.0, lambda _: len(_of_first(drive)) > told)
    fault = _of_first(drive)[told]
    assert fault.short is not None
    assert "has not answered for " in fault.what
    assert f"({RATE} arrivals a second divided by 2)" in fault.what
    if seconds > SEEN_SECONDS:
        drive.wait(Interval, 4.0, lambda one: one.start > struck - 1.0 and not _all_present(one))
        assert time.time() - struck < SEEN_SECONDS
        assert drive.metrics()["loadgen_workers_connected"] == 1
    drive.run(max(struck + seconds - time.time(), 0.0))
    woken = time.time()
    os.kill(pid, signal.SIGCONT)
    drive.wait(Fault, 5.0, lambda _: len(_of_first(drive)) > told + 1)
    assert "answers again after" in _of_first(drive)[told + 1].what
    drive.run(1.6)
    return struck, fault.short.until, woken


def _of_first(drive: Drive) -> list[Fault]:
    return [fault for fault in drive.faults() if fault.what.startswith("worker-0 ")]


def _all_present(interval: Interval) -> bool:
    return all(worker.present for worker in interval.workers)


def _taken_over(came: list[float], spans: list[tuple[float, float, float]]) -> None:
    """Half of the load is missing until it was divided; then everything comes again, and never more than that."""
    for struck, divided, until in spans:
        if until - divided > 0.5:
            whole = sum(divided + 0.1 <= at < until for at in came)
            assert whole == pytest.approx(RATE * (until - divided - 0.1), rel=0.1, abs=4)
        if divided - struck > 1.0:
            half = sum(struck + 0.1 <= at < divided - 0.1 for at in came)
            assert half == pytest.approx(RATE / 2 * (divided - struck - 0.2), rel=0.1, abs=6)
        after = sum(until <= at < until + AFTER_SECONDS for at in came)
        assert after <= RATE * AFTER_SECONDS * 1.1 + 4  # what it had not sent while it was asleep it does not send now
