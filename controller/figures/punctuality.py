"""How well an open loop kept its schedule in a window: what was due, what was dropped, how late the rest was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from controller.figures.histogram import Histogram
from controller.figures.population import Population
from controller.figures.statistics import decimal_fraction, nearest_rank
from controller.orders import ArrivalCell
from controller.plans.arrivals import Arrivals, Process
from exporters.names.loadgen import NO_LEASE, NO_SLOT


@dataclass(frozen=True, slots=True)
class Punctuality:
    """`asked` arrivals a second, by which process, with how many slots; `due` came, some were dropped (by reason).

    `lateness_p50`, `lateness_p99` and `lateness_max` are seconds between the intended and the actual send of those that
    were sent, None where nothing was. Of a recorded process `asked` is the mean, and `burst` the most within a tenth of
    a second: by so many the edges of a window may err.
    """

    asked: float
    process: Process
    max_in_flight: int
    due: int
    dropped: dict[str, int]
    lateness_p50: float | None
    lateness_p99: float | None
    lateness_max: float | None
    burst: int = 0

    @property
    def sent(self) -> int:
        """Arrivals that were sent."""
        return self.due - sum(self.dropped.values())

    @property
    def no_slot(self) -> float:
        """Share of arrivals that found as many requests under way as are allowed."""
        return self.dropped.get(NO_SLOT, 0) / self.due if self.due else 0.0

    @property
    def no_lease(self) -> float:
        """Share of arrivals for which there was no right to send."""
        return self.dropped.get(NO_LEASE, 0) / self.due if self.due else 0.0


@dataclass(slots=True)
class ArrivalCount:
    """What was due in `[start, end)` (epoch seconds) in one slot, inside or outside its window, as it comes in."""

    start: float = 0.0
    end: float = 0.0
    due: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    lateness: Histogram = field(default_factory=Histogram)

    def add(self, cell: ArrivalCell) -> None:
        """Take in an interval's."""
        self.due += cell.due
        self.dropped.update(cell.dropped)
        self.lateness.add(cell.lateness, cell.lateness_sum_us)

    def punctuality(self, asked: Arrivals) -> Punctuality:
        """Held against what was asked at the slot's end, where its window is."""
        p50, p99, most = (quantile_seconds(self.lateness, p) for p in (0.5, 0.99, 1.0))
        dropped = {reason: number for reason, number in sorted(self.dropped.items()) if number}
        return Punctuality(
            asked.end, asked.process, asked.max_in_flight, self.due, dropped, p50, p99, most, asked.burst
        )


def together(counts: Sequence[ArrivalCount]) -> ArrivalCount:
    """One count of everything that was due in any of them."""
    whole = ArrivalCount(min((one.start for one in counts), default=0.0), max((one.end for one in counts), default=0.0))
    for one in counts:
        whole.due += one.due
        whole.dropped.update(one.dropped)
        whole.lateness.merge(one.lateness)
    return whole


def quantile_seconds(histogram: Histogram, p: float) -> float | None:
    """The nearest-rank quantile of counted facts; None when there are none."""
    population = Population(histogram, Histogram())
    return population.value_seconds(nearest_rank(population.n, decimal_fraction(p))) if population.n else None
