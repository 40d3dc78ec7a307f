"""What a Locust process sent, by outcome and latency, and what all of a run's processes sent together; pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from exporters.loadgen_pulse import Vitals
from exporters.names.loadgen import OUTCOMES

_DECADE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
DURATION_BOUNDS = tuple(
    round(one * 10.0**power, 9) for power in range(-4, 2) for one in _DECADE if one * 10.0**power <= 60.0
)
"""Upper bounds of latencies in seconds, 100 µs to 60 s; a quantile is off by at most a quarter of its value."""

LAG_BOUNDS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)

STALE_SECONDS = 2.5
"""A worker that has not reported for longer is not connected: its readings are old."""


@dataclass(slots=True)
class Buckets:
    """A cumulative histogram over fixed bounds; one more bucket catches the rest."""

    bounds: tuple[float, ...]
    counts: Counter[int] = field(default_factory=Counter)
    sum: float = 0.0

    def add(self, value: float) -> None:
        """Count one; a value at a bound belongs below it."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def merge(self, counts: Mapping[int, int], total: float) -> None:
        """Count what somebody else has counted over the same bounds."""
        self.counts.update(counts)
        self.sum += total

    def cumulative(self) -> list[tuple[str, float]]:
        """(`le`, number at or below it), the last one `+Inf`."""
        found: list[tuple[str, float]] = []
        total = 0
        for index in range(len(self.bounds) + 1):
            total += self.counts[index]
            found.append((str(self.bounds[index]) if index < len(self.bounds) else "+Inf", float(total)))
        return found

    def told(self) -> tuple[list[tuple[str, float]], float]:
        """As a page writes it."""
        return self.cumulative(), self.sum


Parts = dict[str, tuple[dict[int, int], float]]
"""By outcome: bucket to number, and the sum of the latencies in seconds."""


class Tally:
    """One process's requests since they were last taken."""

    def __init__(self) -> None:
        """None yet."""
        self._buckets: dict[str, Buckets] = {}
        self.ended = self.faults = 0

    def count(self, outcome: str, seconds: float) -> None:
        """A request ended."""
        buckets = self._buckets.get(outcome)
        if buckets is None:
            buckets = self._buckets[outcome] = Buckets(DURATION_BOUNDS)
        buckets.add(seconds)
        self.ended += 1
        self.faults += outcome == "generator_error"

    def take(self) -> tuple[Parts, int, int]:
        """Everything since the last call: parts, requests that ended, and failures of this machine among them."""
        parts = {outcome: (dict(one.counts), one.sum) for outcome, one in self._buckets.items()}
        found = (parts, self.ended, self.faults)
        self._buckets, self.ended, self.faults = {}, 0, 0
        return found


@dataclass(slots=True)
class Process:
    """One process that sends: its name as a label, its newest vitals, and when (monotonic) they came."""

    name: str
    seen: float
    vitals: Vitals
    lags: Buckets = field(default_factory=lambda: Buckets(LAG_BOUNDS))


class Account:
    """All processes of a run. Time is an argument, monotonic seconds."""

    def __init__(self) -> None:
        """Nobody reported yet."""
        self.durations = {outcome: Buckets(DURATION_BOUNDS) for outcome in OUTCOMES}
        self.processes: dict[str, Process] = {}
        self.master: Vitals | None = None

    def report(self, key: str, name: str, parts: Parts, vitals: Vitals, now: float) -> None:
        """A process told of its last second."""
        for outcome, (counts, total) in parts.items():
            self.durations[outcome].merge(counts, total)
        process = self.processes.setdefault(key, Process(name, now, vitals))
        process.seen, process.vitals = now, vitals
        for us in vitals.lags_us:
            process.lags.add(us / 1e6)

    def keep(self, keys: Iterable[str]) -> None:
        """Only these are still a part of the run."""
        left = set(keys)
        self.processes = {key: process for key, process in self.processes.items() if key in left}

    def connected(self, now: float) -> list[Process]:
        """Whose readings are of now."""
        return [process for process in self.processes.values() if now - process.seen <= STALE_SECONDS]

    def silence(self, now: float, missing: int, limit: float) -> float:
        """Seconds since the oldest last report; with workers that are gone `limit` at least."""
        oldest = max((now - process.seen for process in self.processes.values()), default=0.0)
        return max(oldest, limit if missing > 0 else 0.0)


def packed(parts: Parts, vitals: Vitals) -> dict[str, Any]:
    """A report as Locust's channel carries it: its keys are texts."""
    cells = [[outcome, list(counts.items()), total] for outcome, (counts, total) in parts.items()]
    return {"cells": cells, "vitals": vitals.packed()}


def unpacked(body: Mapping[str, Any]) -> tuple[Parts, Vitals]:
    """A report from what arrived."""
    parts = {outcome: ({int(at): int(n) for at, n in counts}, float(total)) for outcome, counts, total in body["cells"]}
    return parts, Vitals.unpacked(body["vitals"])
