"""How many requests took how long? A sparse histogram on HdrHistogram's grid of three significant digits, without end.

The grid is the one of HdrHistogram with a unit of 1 us: exact below 2048 us, above it 1024 to 2047 places for each
doubling, so that a place is never wider than 1/1024 (0.098 %) of its values. Unlike the array of the library it has no
upper end: a latency of an hour is kept like one of a millisecond. Equal histograms come out whatever the order in
which counts were added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_BITS = 11  # 2048 places: the least power of two that holds 2 * 10**3 values at single-unit resolution


def lowest(us: int) -> int:
    """The lowest value, in microseconds, in the same place of the grid. Raises `ValueError` for negative values."""
    if us < 0:
        raise ValueError(f"a latency cannot be negative: {us} us")
    shift = max(0, us.bit_length() - _BITS)
    return us >> shift << shift


def highest(us: int) -> int:
    """The highest value, in microseconds, in the same place of the grid; what HdrHistogram reports for a place."""
    shift = max(0, us.bit_length() - _BITS)
    return lowest(us) + (1 << shift) - 1


@dataclass(slots=True)
class Histogram:
    """Counts by place (its lowest value, microseconds) and the exact sum of the unrounded latencies, microseconds."""

    counts: dict[int, int] = field(default_factory=dict)
    sum_us: int = 0
    total: int = 0

    def add(self, counts: Mapping[int, int], sum_us: int) -> None:
        """Count `counts` (any latency in microseconds to its number) whose exact sum is `sum_us`."""
        for us, number in counts.items():
            if number < 0:
                raise ValueError(f"a count cannot be negative: {number} requests of {us} us")
            if number:
                place = lowest(us)
                self.counts[place] = self.counts.get(place, 0) + number
                self.total += number
        self.sum_us += sum_us

    def merge(self, other: Histogram) -> None:
        """Count everything that `other` counted."""
        for place, number in other.counts.items():
            self.counts[place] = self.counts.get(place, 0) + number
        self.total += other.total
        self.sum_us += other.sum_us

    def copy(self) -> Histogram:
        """An independent histogram with the same counts."""
        return Histogram(dict(self.counts), self.sum_us, self.total)


def merged(histograms: list[Histogram]) -> Histogram:
    """One histogram with the counts of all."""
    union = Histogram()
    for histogram in histograms:
        union.merge(histogram)
    return union
