"""Drives a real generator in tests as the controller does: a lease every second, orders, and all reports kept."""

from __future__ import annotations

import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from controller.edges.generator_process import GeneratorProcess
from controller.generator_spec import GeneratorSpec
from controller.orders import Ack, Drain, Drained, Fault, Hello, Interval, Lease, Order, Quit, Report
from controller.plans.plan import Payloads, Target, Workload

T = TypeVar("T", Ack, Drained, Fault, Hello, Interval)


def a_spec(url: str, workers: int = 2, model: str = "m", **workload: Any) -> GeneratorSpec:
    """Small random payloads for a TF Serving model at `url`."""
    work = Workload(**{"payloads": Payloads(random_shape=(2,), count=20), "timeout": timedelta(seconds=2), **workload})
    return GeneratorSpec("run-1", "a-plan", Target("tfserving", url, model=model), work, workers)


@dataclass
class Drive:
    """A running generator; use as a context, which leaves no process behind."""

    spec: GeneratorSpec
    log: Path
    reports: list[Report] = field(default_factory=list)
    leasing: bool = True
    number: int = 0
    bind: tuple[str, int] | None = None
    secret_file: Path | None = None
    sent: dict[int, float] = field(default_factory=dict)  # order number to epoch
    _leased: float = 0.0

    def __enter__(self) -> Drive:
        self.process = GeneratorProcess(self.log, self.bind, self.secret_file)
        try:
            self.process.start(self.spec)
            self.hello = self.wait(Hello, 60.0)
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.process.kill()
        assert not self.process.alive()

    def order(self, users: int, slot: int = 0, *, measured: bool = False) -> Ack:
        """Send an order and wait until it took effect."""
        self.number += 1
        self.sent[self.number] = time.time()
        self.process.send(Order(self.number, slot, "stage", "steady", measured, users))
        return self.wait(Ack, 5.0, lambda ack: ack.number == self.number)

    def drain(self, timeout: float = 5.0) -> Drained:
        """Drain and wait for the totals."""
        self.process.send(Drain(timeout))
        return self.wait(Drained, timeout + 5.0)

    def quit(self) -> int | None:
        """Quit; the master's exit code."""
        self.leasing = False
        self.process.send(Quit())
        deadline = time.monotonic() + 5.0
        while self.process.alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.process.exit_code

    def run(self, seconds: float) -> None:
        """Let it go on for a while."""
        self._until(lambda: False, seconds)

    def wait(self, kind: type[T], seconds: float, which: Callable[[T], bool] = lambda _: True) -> T:
        """The first report of this kind that fits, also an earlier one."""
        found: list[T] = []

        def look() -> bool:
            found[:] = [report for report in self.reports if isinstance(report, kind) and which(report)]
            return bool(found)

        assert self._until(look, seconds), f"no {kind.__name__} within {seconds} s; {self.faults()}"
        return found[0]

    def faults(self) -> list[Fault]:
        return [report for report in self.reports if isinstance(report, Fault)]

    def intervals(self) -> list[Interval]:
        return [report for report in self.reports if isinstance(report, Interval)]

    def outcomes(self, slot: int | None = None) -> Counter[str]:
        """Requests by outcome over all intervals, of one slot or of all."""
        found: Counter[str] = Counter()
        for interval in self.intervals():
            for cell in interval.cells:
                if slot is None or cell.slot == slot:
                    found[cell.outcome] += sum(cell.counts.values())
        return found

    def metrics(self) -> dict[str, float]:
        """The endpoint's samples by name and labels as written."""
        with urllib.request.urlopen(f"http://{self.hello.metrics}/metrics", timeout=5) as page:
            lines = page.read().decode().splitlines()
        samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in samples}

    def pids(self) -> list[int]:
        """The workers, as children of the master."""
        children = Path(f"/proc/{self.hello.pid}/task/{self.hello.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def _until(self, done: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while True:
            if self.leasing and time.time() - self._leased >= 1.0:
                self._leased = time.time()
                self.process.send(Lease(self._leased))
            self.reports += self.process.reports()
            if done():
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.005)
