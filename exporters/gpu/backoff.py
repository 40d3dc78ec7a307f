"""When to try again: soon after the first failure, ever more rarely after the next ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds of a clock; `failed` and the fresh value are the only changes."""

    first: float
    longest: float
    failures: int = 0
    not_before: float = float("-inf")

    def due(self, now: float) -> bool:
        """Whether to try at `now`."""
        return now >= self.not_before

    def failed(self, now: float) -> Backoff:
        """After a failure at `now`: wait `first`, then twice as long each time, at most `longest`."""
        wait = min(self.longest, self.first * 2 ** min(self.failures, 32))
        return Backoff(self.first, self.longest, self.failures + 1, now + wait)
