"""The worst fault this product can have is a generator that outlives its controller."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from controller.generator_spec import encode_spec
from controller.orders import LEASE_SECONDS
from tests.controller.generator.drive import a_spec
from tests.controller.generator.target import Target

pytestmark = pytest.mark.slow

GONE_SECONDS = 10.0


@dataclass
class Driven:
    """A controller process, its generator's processes, and the target that they load."""

    controller: subprocess.Popen[str]
    pids: list[int]  # master first
    target: Target

    def running(self) -> list[int]:
        return [pid for pid in self.pids if _running(pid)]

    def strike(self, pid: int, number: signal.Signals) -> float:
        """Send a signal in mid-load; epoch second of it."""
        assert self.target.count > 100
        assert len(self.running()) == len(self.pids) == 3
        os.kill(pid, number)
        return time.time()


@pytest.fixture
def driven(tmp_path: Path) -> Iterator[Driven]:
    target = Target(delay=0.005)
    (tmp_path / "spec.json").write_bytes(encode_spec(a_spec(target.url)))
    arguments = [str(tmp_path / "spec.json"), str(tmp_path / "locust.log"), "6"]
    command = [sys.executable, "-m", "tests.controller.generator.driver", *arguments]
    controller = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pids: list[int] = []
    try:
        assert controller.stdout is not None
        pids = json.loads(controller.stdout.readline())
        time.sleep(1.3)  # load, and more than one lease
        yield Driven(controller, pids, target)
    finally:
        controller.kill()
        controller.wait()
        for pid in pids:
            if _running(pid):
                os.kill(pid, signal.SIGKILL)
        if controller.stdout is not None:
            controller.stdout.close()


@pytest.mark.parametrize("victim", ["controller", "master"])
def test_a_killed_controller_or_master_ends_load_and_processes(driven: Driven, victim: str) -> None:
    pid = driven.controller.pid if victim == "controller" else driven.pids[0]
    struck = driven.strike(pid, signal.SIGKILL)
    _wait_until(lambda: not driven.running(), GONE_SECONDS)
    assert driven.running() == []
    assert time.time() - struck < LEASE_SECONDS  # the socket's end is noticed at once, no lease has to run out
    _nothing_more_after(driven.target, struck)


@pytest.mark.parametrize("victim", ["controller", "master"])
def test_a_frozen_controller_or_master_lets_the_lease_run_out(driven: Driven, victim: str) -> None:
    pid = driven.controller.pid if victim == "controller" else driven.pids[0]
    struck = driven.strike(pid, signal.SIGSTOP)
    left = driven.pids if victim == "controller" else driven.pids[1:]  # a frozen master cannot end itself
    _wait_until(lambda: not any(map(_running, left)), GONE_SECONDS)
    assert not any(map(_running, left)), time.time() - struck
    _nothing_more_after(driven.target, struck)
    assert driven.target.last > struck + 1.0  # it was the lease that ended it, nothing quicker


def _nothing_more_after(target: Target, struck: float) -> None:
    count = target.count
    time.sleep(0.3)
    assert target.count == count
    assert target.last <= struck + LEASE_SECONDS, target.last - struck


def _running(pid: int) -> bool:
    """A zombie does not run; where nobody collects orphans it stays for ever."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _wait_until(done: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.02)
