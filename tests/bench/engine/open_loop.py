"""Open loops against a server that is never the limit: how late requests leave, and whether memory stays flat."""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from controller.orders import Ack, Order
from controller.plans.arrivals import Arrivals
from tests.controller.generator.drive import Drive

PAGE = 4096
WARMING = 1
"""The slot of what is not measured."""

SAMPLE_SECONDS = 2.0
MOST_DOUBT = 30.0
"""MiB an hour either way: a soak too short to say more than this says nothing."""

SOAK_SLOTS = 100

T_95 = 1.96
"""Of the normal distribution; there are dozens of samples."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How a schedule was kept: lateness in milliseconds, arrivals that were dropped, and those sent over those asked,
    less one. `stolen` is the share of the machine's time that its own host gave to others, None where it tells none."""

    p50: float
    p99: float
    dropped: int
    off: float
    stolen: float | None


def give(drive: Drive, arrivals: Arrivals | None, slot: int) -> Ack:
    """Order arrivals, or none, and wait until it took effect."""
    drive.number += 1
    number = drive.number
    drive.process.send(Order(number, slot, "bench", "steady", True, 0, arrivals))
    return drive.wait(Ack, 5.0, lambda ack: ack.number == number)


def keep(drive: Drive, rate: float, slot: int, seconds: float) -> Kept:
    """A second and a half to settle, then measure from one order's effect to the next one's."""
    arrivals = Arrivals(rate, rate, 0.0, max_in_flight=2000)
    give(drive, arrivals, WARMING)
    drive.run(1.5)
    before, first = psutil.cpu_times(), give(drive, arrivals, slot)
    drive.run(seconds)
    last, after = give(drive, None, WARMING), psutil.cpu_times()
    drive.run(1.5)
    late, dropped = Counter[int](), 0
    for cell in (cell for interval in drive.intervals() for cell in interval.arrivals if cell.slot == slot):
        late.update(cell.lateness)
        dropped += sum(cell.dropped.values())
    off = late.total() / (rate * (last.at - first.at)) - 1
    return Kept(_quantile(late, 0.5), _quantile(late, 0.99), dropped, off, _stolen(before, after))


def _stolen(before: Any, after: Any) -> float | None:
    whole = sum(after) - sum(before)
    return (after.steal - before.steal) / whole if hasattr(after, "steal") and whole > 0 else None


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
    """Hold a rate; the first fifth only warms up. It begins with more than can be sent, so that all that may be in
    flight at once has been: a connection is made when it is first needed, and is no leak."""
    for warming in (20 * rate, rate):
        give(drive, Arrivals(warming, warming, 0.0, "poisson", SOAK_SLOTS, 1), slot)
        drive.run(2.0)
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
