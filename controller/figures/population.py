"""Of which requests do latency quantiles speak? Of those answered well, and of those given up after a time.

A timed-out request would have taken at least as long as we waited: it is censored from above. Leaving it out would
improve the quantiles, counting it at the limit would invent an answer. Errors are in neither: a fast error is no fast
answer.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from controller.figures.histogram import Histogram, highest, lowest

MICROSECONDS = 1_000_000


class Population:
    """Answered and censored latencies in order; ranks are 1-based."""

    def __init__(self, ok: Histogram, timeouts: Histogram) -> None:
        """Order the latencies of `ok` and of `timeouts`; inside one place of the grid the answered come first."""
        entries = sorted(
            [(us, False, number) for us, number in ok.counts.items()]
            + [(us, True, number) for us, number in timeouts.counts.items()]
        )
        self._entries = entries
        self._upto = list(accumulate(number for _, _, number in entries))
        self.n = self._upto[-1] if entries else 0
        self.censored = timeouts.total
        before = [upto - number for upto, (_, censored, number) in zip(self._upto, entries, strict=True) if censored]
        self._certain = before[0] if before else self.n

    def is_bound(self, rank: int) -> bool:
        """Whether the value at `rank` is only a lower bound, because a censored latency lies at it or below it."""
        return rank > self._certain

    def low_seconds(self, rank: int) -> float:
        """The least that the value at `rank` can be."""
        return lowest(self._at(rank)) / MICROSECONDS

    def high_seconds(self, rank: int) -> float:
        """The most that an uncensored value at `rank` can be."""
        return highest(self._at(rank)) / MICROSECONDS

    def value_seconds(self, rank: int) -> float:
        """The value at `rank` as it is reported: the top of its place, or the bottom if it is only a lower bound."""
        return self.low_seconds(rank) if self.is_bound(rank) else self.high_seconds(rank)

    def place(self, rank: int) -> int:
        """The place of the grid (microseconds) that holds `rank`."""
        return self._at(rank)

    def _at(self, rank: int) -> int:
        if not 1 <= rank <= self.n:
            raise ValueError(f"no rank {rank} among {self.n} latencies")
        return self._entries[bisect_left(self._upto, rank)][0]
