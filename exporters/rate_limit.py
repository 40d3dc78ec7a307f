"""How many requests are answered: a bucket of tokens that fills with time."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RateLimit:
    """One request in `interval` seconds, and `burst` of them at once."""

    interval: float
    burst: int


class Bucket:
    """The tokens that are left; full at first."""

    def __init__(self, limit: RateLimit, now: float) -> None:
        """`now` is of the clock that `admits` is told."""
        self.limit = limit
        self._tokens, self._at = float(limit.burst), now
        self._lock = threading.Lock()

    def admits(self, now: float) -> bool:
        """Take a token; False when there is none."""
        with self._lock:
            gained = max(0.0, now - self._at) / self.limit.interval
            self._tokens, self._at = min(float(self.limit.burst), self._tokens + gained), now
            if self._tokens < 1.0:
                return False
            self._tokens -= 1.0
            return True
