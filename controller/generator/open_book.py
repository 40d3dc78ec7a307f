"""The master's account of the open loops: arrivals, drops, lateness, and latencies from the intended send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from controller.generator.latency import COARSE_BOUNDS_US, DURATION_BOUNDS_US, LATENESS_BOUNDS_US, Buckets
from controller.generator.ledger import RawArrivals, RawCell
from controller.orders import ArrivalCell, Cell
from exporters.names.loadgen import DROP_REASONS, OUTCOMES


def duration_buckets() -> dict[str, Buckets]:
    """One histogram an outcome: fine for answers, whose quantiles are read, coarse for errors."""
    fine = ("ok", "degraded")
    return {name: Buckets(DURATION_BOUNDS_US if name in fine else COARSE_BOUNDS_US) for name in OUTCOMES}


class OpenBook:
    """Totals since the run began, and what came since the last interval."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.durations = duration_buckets()
        self.lateness = Buckets(LATENESS_BOUNDS_US)
        self.due = 0
        self.dropped: Counter[str] = Counter(dict.fromkeys(DROP_REASONS, 0))
        self._cells: dict[tuple[int, bool, str], tuple[Counter[int], int]] = {}
        self._arrivals: dict[tuple[int, bool], ArrivalCell] = {}

    def add(self, intended: Iterable[RawCell], arrivals: Iterable[RawArrivals]) -> None:
        """Take in what a worker reported."""
        for slot, measured, outcome, counts, sum_us in intended:
            self.durations[outcome].add(counts, sum_us)
            merged, total = self._cells.get((slot, measured, outcome), (Counter(), 0))
            merged.update(counts)
            self._cells[slot, measured, outcome] = (merged, total + sum_us)
        for raw in arrivals:
            cell = ArrivalCell(*raw)
            self.due += cell.due
            self.dropped.update(cell.dropped)
            self.lateness.add(cell.lateness, cell.lateness_sum_us)
            before = self._arrivals.get((cell.slot, cell.measured))
            self._arrivals[cell.slot, cell.measured] = cell if before is None else _together(before, cell)

    def take(self) -> tuple[tuple[Cell, ...], tuple[ArrivalCell, ...]]:
        """Everything since the last call: latencies from the intended send, and arrivals."""
        cells = tuple(Cell(*key, dict(counts), sum_us) for key, (counts, sum_us) in self._cells.items())
        arrivals = tuple(self._arrivals.values())
        self._cells, self._arrivals = {}, {}
        return cells, arrivals


def _together(one: ArrivalCell, other: ArrivalCell) -> ArrivalCell:
    return ArrivalCell(
        one.slot,
        one.measured,
        one.due + other.due,
        dict(Counter(one.dropped) + Counter(other.dropped)),
        dict(Counter(one.lateness) + Counter(other.lateness)),
        one.lateness_sum_us + other.lateness_sum_us,
    )
