"""How is a latency kept? Whole microseconds, quantised to three significant digits as an HdrHistogram would.

With 2048 sub-buckets a value below 2048 µs is kept exactly, and a larger one as the lowest value of its bucket, which
is at most 1/1024 below it. The same value fed into an HdrHistogram of three digits lands in the same bucket.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

SUB_BUCKETS = 2048

_KEPT_BITS = SUB_BUCKETS.bit_length() - 1


def quantise(us: int) -> int:
    """The lowest value of the bucket that holds `us` (microseconds, not negative)."""
    if us < SUB_BUCKETS:
        return us
    shift = us.bit_length() - _KEPT_BITS
    return (us >> shift) << shift


EDGES_US = (100_000, 200_000, 500_000, 1_000_000)
"""Bounds that every duration histogram has: the shares of requests up to 100, 200, 500 and 1000 ms are then exact."""


def _ladder(first_us: int, last_us: int, growth: float, through: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Rising bounds in whole microseconds, each at most `growth` times the one before; ends and `through` are in it."""
    bounds = [first_us]
    while bounds[-1] < last_us:
        landing = min(bound for bound in (*through, last_us) if bound > bounds[-1])
        bounds.append(min(int(bounds[-1] * growth), landing))
    return tuple(bounds)


DURATION_BOUNDS_US = _ladder(95, 60_000_000, 1.05, EDGES_US)
"""Upper bounds of the duration histogram's buckets: a quantile between 100 µs and 60 s that Prometheus
reads from it is off by at most a twentieth of its value, wherever the values lie inside a bucket."""


def _every_eighth(bounds: tuple[int, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
    """Few of the bounds, with the edges and without what lies close to one, so that no bucket is a sliver."""
    few = (bound for bound in bounds[::8] if all(not 0.87 < bound / edge < 1.15 for edge in edges))
    return tuple(sorted({*few, *edges, bounds[-1]}))


COARSE_BOUNDS_US = _every_eighth(DURATION_BOUNDS_US, EDGES_US)
"""Of errors, because nobody reads a fine quantile of them. Of heatmaps too, so that answers and time-outs are counted
up to the same bounds."""

LATENESS_BOUNDS_US = _ladder(50, 10_000_000, 1.25)
"""Upper bounds of the lateness' buckets: 50 µs to 10 s."""

LAG_BOUNDS_US = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
"""Upper bounds of the loop lag's buckets; the limit of the saturation signal, 20 ms, is one of them."""


class Buckets:
    """A cumulative histogram over fixed bounds, as Prometheus wants it; one more bucket catches the rest."""

    __slots__ = ("bounds", "counts", "sum_us")

    def __init__(self, bounds: Sequence[int]) -> None:
        """Start empty; `bounds` are microseconds, rising."""
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum_us = 0

    def add(self, counts: Mapping[int, int], sum_us: int) -> None:
        """Add values (microseconds to their number) and their exact sum; a value at a bound belongs below it."""
        for us, number in counts.items():
            self.counts[bisect_left(self.bounds, us)] += number
        self.sum_us += sum_us

    def cumulative(self) -> list[tuple[str, float]]:
        """(`le` in seconds, number at or below it), the last one `+Inf`."""
        found: list[tuple[str, float]] = []
        total = 0
        for bound, number in zip((*self.bounds, None), self.counts, strict=True):
            total += number
            found.append(("+Inf" if bound is None else str(bound / 1e6), float(total)))
        return found

    def told(self) -> tuple[list[tuple[str, float]], float]:
        """As a page writes it."""
        return self.cumulative(), self.sum_us / 1e6
