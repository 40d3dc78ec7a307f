"""Open loops against a server that is never the limit: how late requests leave, and whether memory stays flat."""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controller.orders import Interval, Order
from controller.plans.arrivals import Arrivals
from tests.controller.generator.drive import Drive

PAGE = 4096
SAMPLE_SECONDS = 2.0
MOST_DOUBT = 30.0
"""MiB an hour either way: a soak too short to say more than this says nothing."""

T_95 = 1.96
"""Of the normal distribution; there are dozens of samples."""


@dataclass(frozen=True, slots=True)
class Late:
    """Lateness of what was sent in some seconds at one rate: p50 and p99 in milliseconds, asked and sent arrivals."""

    p50: float
    p99: float
    asked: float
    sent: float
    dropped: int


def begin(drive: Drive, rate: float, slot: int) -> None:
    """Let requests arrive from now on."""
    drive.number += 1
    arrivals = Arrivals(rate, rate, 0.0, "poisson", 500, 1)
    drive.process.send(Order(drive.number, slot, "bench", "steady", True, 0, arrivals))


def lateness(drive: Drive, rate: float, slot: int, seconds: float) -> Late:
    """A second to settle, then measure whole seconds."""
    begin(drive, rate, slot)
    drive.run(1.5 + (1.0 - time.time() % 1.0))
    start = int(time.time())
    drive.run(seconds + 0.5)
    within = [one for one in drive.intervals() if start <= one.start and one.end <= start + seconds]
    return _late(within, rate)


def _late(intervals: Sequence[Interval], rate: float) -> Late:
    counts: Counter[int] = Counter()
    dropped = 0
    for interval in intervals:
        for cell in interval.arrivals:
            counts.update(cell.lateness)
            dropped += sum(cell.dropped.values())
    seconds = sum(interval.end - interval.start for interval in intervals)
    sent = counts.total()
    return Late(_quantile(counts, 0.5), _quantile(counts, 0.99), rate * seconds, sent, dropped)


def _quantile(counts: Counter[int], p: float) -> float:
    wanted, seen = math.ceil(p * counts.total()), 0
    for us in sorted(counts):
        seen += counts[us]
        if seen >= wanted:
            return us / 1e3
    return math.nan


@dataclass(frozen=True, slots=True)
class Memory:
    """A worker's resident memory over a soak: MiB at the end, slope and its standard error in MiB an hour."""

    end: float
    slope: float
    error: float
    seconds: float

    @property
    def flat(self) -> bool:
        """Whether the slope cannot be told from zero, or memory falls, and it was measured well enough to tell."""
        doubt = T_95 * self.error
        return self.slope - doubt <= 0 and doubt <= MOST_DOUBT


def soak(drive: Drive, rate: float, slot: int, seconds: float) -> Memory:
    """Hold a rate; the first fifth only warms up."""
    begin(drive, rate, slot)
    drive.run(seconds / 5)
    [worker] = drive.pids()
    times, sizes, deadline = [], [], time.monotonic() + seconds * 4 / 5
    while time.monotonic() < deadline:
        times.append(time.monotonic())
        sizes.append(_resident(worker) / 2**20)
        drive.run(SAMPLE_SECONDS)
        drive.reports.clear()
    slope, error = _slope(times, sizes)
    return Memory(sizes[-1], slope * 3600, error * 3600, seconds)


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


def _slope(times: Sequence[float], sizes: Sequence[float]) -> tuple[float, float]:
    """Least squares, and the slope's standard error."""
    mean = statistics.fmean(times)
    spread = sum((at - mean) ** 2 for at in times)
    fit = statistics.linear_regression(times, sizes)
    residual = sum((size - fit.intercept - fit.slope * at) ** 2 for at, size in zip(times, sizes, strict=True))
    return fit.slope, math.sqrt(residual / max(len(times) - 2, 1) / spread)
