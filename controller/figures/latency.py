"""The ledger of a run: exact histograms by slot, window and outcome, the series of seconds, and the totals.

Fed with the generator's intervals, in order. Memory is bounded: a window is kept as at most `MOST_BATCHES` batches of
consecutive intervals; when more come in, neighbours are merged, so that an hour is remembered as minutes, a minute as
seconds, and no request is ever dropped from the counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from controller.figures.canary import Probe
from controller.figures.distortion import LAG, waits
from controller.figures.histogram import Histogram, merged
from controller.figures.indicators import union
from controller.figures.measurement import Batch
from controller.figures.punctuality import ArrivalCount, together
from controller.figures.seconds import Second, second, slim
from controller.orders import Cell, Interval
from exporters.names.loadgen import OUTCOMES

MOST_BATCHES = 128
DETAILED_SECONDS = 3600
"""So many newest seconds keep all their indicators, twice what the longest stop rule looks back; older ones only what
`seconds.csv` shows."""

GAP_SECONDS = 0.5
"""Intervals that lie further apart than this have lost a report between them."""


T = TypeVar("T")


class Batches(Generic[T]):
    """Consecutive batches, each of `width` intervals; the width doubles when there are too many."""

    def __init__(self, merge: Callable[[Sequence[T]], T]) -> None:
        """Start empty, one interval a batch; `merge` makes one of several neighbours."""
        self._merge = merge
        self._width = 1
        self._filled = 0
        self._batches: list[T] = []

    def add(self, batch: T) -> None:
        """Take one interval's counts."""
        if self._batches and self._filled < self._width:
            self._batches[-1] = self._merge([self._batches[-1], batch])
            self._filled += 1
            return
        if len(self._batches) == MOST_BATCHES:
            self._batches = [self._merge(self._batches[i : i + 2]) for i in range(0, MOST_BATCHES, 2)]
            self._width *= 2
        self._batches.append(batch)
        self._filled = 1

    def all(self) -> tuple[T, ...]:
        """In order of time."""
        return tuple(self._batches)


class LatencyLedger:
    """Everything that the generator reported of one run.

    The latencies of an open loop are those from the intended send; those from the actual send are kept beside them.
    `seconds`: one entry an interval. `totals`: requests by outcome. `reported`: the generator's own count of requests
    that ended, as of the last interval. `gaps`: spans `[start, end)` (epoch seconds) that no interval covers.
    `probes` are the canary's.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.seconds: list[Second] = []
        self.totals: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
        self.reported = 0
        self.started = 0
        self.gaps: list[tuple[float, float]] = []
        self.probes: list[Probe] = []
        self._batches: dict[tuple[int, bool], Batches[Batch]] = {}
        self._intended: dict[tuple[int, bool], Batches[Batch]] = {}
        self._arrivals: dict[tuple[int, bool], Batches[ArrivalCount]] = {}
        self._waits: dict[tuple[int, bool], Batches[Batch]] = {}

    def add(self, interval: Interval) -> None:
        """Take one interval. Raises `ValueError` for an outcome that is not one of ours."""
        if self.seconds and interval.start - self.seconds[-1].end > GAP_SECONDS:
            self.gaps.append((self.seconds[-1].end, interval.start))
        parts, intended = _by_slot(interval, interval.cells), _by_slot(interval, interval.intended)
        for kept, found in ((self._batches, parts), (self._intended, intended)):
            for key, batch in found.items():
                kept.setdefault(key, Batches(union)).add(batch)
        for cell in interval.arrivals:
            counted = ArrivalCount(interval.start, interval.end)
            counted.add(cell)
            self._arrivals.setdefault((cell.slot, cell.measured), Batches(together)).add(counted)
        if (waited := _waited(interval)) is not None and (parts or interval.arrivals):
            key = max([*parts, *((cell.slot, cell.measured) for cell in interval.arrivals)])
            self._waits.setdefault(key, Batches(union)).add(waited)
        self.seconds.append(second(interval, (parts | intended).values()))
        if len(self.seconds) > DETAILED_SECONDS:
            old = len(self.seconds) - DETAILED_SECONDS - 1
            self.seconds[old] = slim(self.seconds[old])
        self.reported, self.started = interval.ended, interval.started
        for batch in parts.values():
            for outcome, histogram in batch.outcomes.items():
                self.totals[outcome] += histogram.total

    def slots(self) -> tuple[int, ...]:
        """Slots of which requests were counted, in order."""
        return tuple(sorted({slot for slot, _ in self._batches}))

    def batches(self, slot: int, *, measured: bool = True) -> tuple[Batch, ...]:
        """The slot's requests of inside or outside its window, in order of time, with the latencies that count."""
        found = self._intended.get((slot, measured)) or self._batches.get((slot, measured))
        return found.all() if found else ()

    def batches_from_send(self, slot: int, *, measured: bool = True) -> tuple[Batch, ...]:
        """The same requests with their latencies from the actual send, whatever the loop."""
        found = self._batches.get((slot, measured))
        return found.all() if found else ()

    def is_open(self, slot: int, *, measured: bool = True) -> bool:
        """Whether latencies from the intended send were reported."""
        return (slot, measured) in self._intended

    def arrivals(self, slot: int, *, measured: bool = True) -> tuple[ArrivalCount, ...]:
        """What was due in the slot, inside or outside its window, in order of time."""
        found = self._arrivals.get((slot, measured))
        return found.all() if found else ()

    def waits(self, slot: int, *, measured: bool = True) -> tuple[Batch, ...]:
        """How long the workers' event loops let things wait while the slot was the newest, in order of time."""
        found = self._waits.get((slot, measured))
        return found.all() if found else ()

    def histogram(self, slot: int, outcome: str, *, measured: bool = True) -> Histogram:
        """All latencies of one outcome in a slot, of inside or outside its window."""
        return merged([batch.histogram(outcome) for batch in self.batches(slot, measured=measured)])

    @property
    def last(self) -> Second | None:
        """The newest second."""
        return self.seconds[-1] if self.seconds else None

    def between(self, start: float, end: float) -> Sequence[Second]:
        """Seconds that lie wholly inside `[start, end)` (epoch seconds)."""
        slack = 1e-6
        return [row for row in self.seconds if row.start >= start - slack and row.end <= end + slack]


def _waited(interval: Interval) -> Batch | None:
    lags = [waits(worker.lags) for worker in interval.workers if worker.lags]
    if not lags:
        return None
    whole = Histogram()
    for found in lags:
        whole.add(found, sum(us * number for us, number in found.items()))
    return Batch(interval.start, interval.end, {LAG: whole})


def _by_slot(interval: Interval, cells: Sequence[Cell]) -> dict[tuple[int, bool], Batch]:
    parts: dict[tuple[int, bool], Batch] = {}
    for cell in cells:
        if cell.outcome not in OUTCOMES:
            raise ValueError(f"the generator reported an unknown outcome: {cell.outcome!r}")
        if not any(cell.counts.values()):
            continue
        batch = parts.setdefault((cell.slot, cell.measured), Batch(interval.start, interval.end, {}))
        batch.outcomes.setdefault(cell.outcome, Histogram()).add(cell.counts, cell.sum_us)
    return parts
