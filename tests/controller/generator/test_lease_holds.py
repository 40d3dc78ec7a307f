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
    target: Target
    pids: list[int]  # master first; empty until it is ready

    def running(self) -> list[int]:
        return [pid for pid in self.pids if _running(pid)]

    def strike(self, pid: int, number: signal.Signals) -> float:
        """Send a signal in mid-load; epoch second of it."""
        assert self.target.count > 50
        assert len(self.running()) == len(self.pids)
        os.kill(pid, number)
        return time.time()

    def end(self) -> None:
        self.controller.kill()
        self.controller.wait()
        for pid in self.running():
            os.kill(pid, signal.SIGKILL)
        if self.controller.stdout is not None:
            self.controller.stdout.close()


@pytest.fixture
def two_driven(tmp_path: Path) -> Iterator[tuple[Driven, Driven]]:
    """Two at once, with two workers and with one: what has to be waited for is waited for together."""
    pair = [_drive(tmp_path / str(workers), workers) for workers in (2, 1)]
    try:
        for driven in pair:
            assert driven.controller.stdout is not None
            driven.pids = json.loads(driven.controller.stdout.readline())
        time.sleep(1.3)  # load, and more than one lease
        yield pair[0], pair[1]
    finally:
        for driven in pair:
            driven.end()


def test_a_killed_controller_or_master_ends_load_and_processes(two_driven: tuple[Driven, Driven]) -> None:
    without_controller, without_master = two_driven
    struck = {
        without_controller.target.port: without_controller.strike(without_controller.controller.pid, signal.SIGKILL),
        without_master.target.port: without_master.strike(without_master.pids[0], signal.SIGKILL),
    }
    _wait_until(lambda: not any(driven.running() for driven in two_driven), GONE_SECONDS)
    gone = time.time()
    for driven in two_driven:
        assert driven.running() == []
        assert gone - struck[driven.target.port] < LEASE_SECONDS  # noticed at once: no lease has to run out
        _nothing_more_after(driven.target, struck[driven.target.port])


def test_a_frozen_controller_or_master_lets_the_lease_run_out(two_driven: tuple[Driven, Driven]) -> None:
    frozen_controller, frozen_master = two_driven
    struck = {
        frozen_controller.target.port: frozen_controller.strike(frozen_controller.controller.pid, signal.SIGSTOP),
        frozen_master.target.port: frozen_master.strike(frozen_master.pids[0], signal.SIGSTOP),
    }
    left = [*frozen_controller.pids, *frozen_master.pids[1:]]  # a frozen master cannot end itself
    _wait_until(lambda: not any(map(_running, left)), GONE_SECONDS)
    assert not any(map(_running, left))
    for driven in two_driven:
        _nothing_more_after(driven.target, struck[driven.target.port])
        assert driven.target.last > struck[driven.target.port] + 1.0  # the lease ended it, nothing quicker


def _drive(folder: Path, workers: int) -> Driven:
    folder.mkdir()
    target = Target(delay=0.01)
    (folder / "spec.json").write_bytes(encode_spec(a_spec(target.url, workers=workers)))
    arguments = [str(folder / "spec.json"), str(folder / "locust.log"), "4"]
    command = [sys.executable, "-m", "tests.controller.generator.driver", *arguments]
    return Driven(subprocess.Popen(command, stdout=subprocess.PIPE, text=True), target, [])


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
