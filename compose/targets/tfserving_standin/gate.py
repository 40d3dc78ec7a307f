"""Lets requests into service: at most so many at once, at most so many a second, the rest in order of arrival."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

from .script import Capacity

Item = TypeVar("Item")


class Gate(Generic[Item]):
    """The queue before the service. It keeps no clock: every question brings the moment in seconds."""

    def __init__(self, capacity: Capacity) -> None:
        """Nobody waits, nobody is served."""
        self.capacity = capacity
        self._waiting: deque[Item] = deque()
        self._serving = 0
        self._next_start = 0.0

    @property
    def open(self) -> bool:
        """Whether nothing limits anybody."""
        return self.capacity.concurrency is None and self.capacity.rate is None

    def offer(self, item: Item, now: float) -> bool:
        """Queue an arrival; False if it has to wait and the queue has no place left."""
        queue = self.capacity.queue
        if queue is not None and len(self._waiting) >= queue and not (self._free(now) and not self._waiting):
            return False
        self._waiting.append(item)
        return True

    def admit(self, now: float) -> Item | None:
        """Take the next one into service, if one waits and may begin now."""
        if not self._waiting or not self._free(now):
            return None
        if self.capacity.rate is not None:
            self._next_start = max(now, self._next_start) + 1.0 / self.capacity.rate
        self._serving += 1
        return self._waiting.popleft()

    def leave(self) -> None:
        """One that was admitted is done."""
        self._serving -= 1

    def opens_at(self, now: float) -> float | None:
        """When to ask `admit` again because of the rate; None if time alone changes nothing."""
        if not self._waiting or not self._slot() or self._next_start <= now:
            return None
        return self._next_start

    def change(self, capacity: Capacity) -> None:
        """Other limits from now on, for those who wait too."""
        self.capacity = capacity
        self._next_start = 0.0

    def _slot(self) -> bool:
        limit = self.capacity.concurrency
        return limit is None or self._serving < limit

    def _free(self, now: float) -> bool:
        return self._slot() and (self.capacity.rate is None or now >= self._next_start)
