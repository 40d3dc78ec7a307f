"""Who has waited for too long? One timer for all connections of a process, and no timer work for most requests.

A connection says until when it may wait (`until`). It is looked at once in its timeout, however many requests it has
made meanwhile: only then is it known whether the newest of them has passed its time.
"""

from __future__ import annotations

import time
from heapq import heappop, heappush
from itertools import count
from typing import Any

from gevent import get_hub

NEVER = float("inf")


class WaitTimeoutError(TimeoutError):
    """The wait lasted for longer than it may."""


class Wait:
    """`until` is when the wait ends (`time.perf_counter`, `NEVER` when idle), `armed` the earliest look that is
    planned, `greenlet` who waits at this moment."""

    __slots__ = ("armed", "greenlet", "until")

    def __init__(self) -> None:
        """Nobody waits."""
        self.until = NEVER
        self.armed = NEVER
        self.greenlet: Any = None


class Deadlines:
    """All waits of one process."""

    __slots__ = ("_alarm", "_heap", "_number", "_timer")

    def __init__(self) -> None:
        """Nobody waits."""
        self._heap: list[tuple[float, int, Wait]] = []
        self._number = count()
        self._timer: Any = None
        self._alarm = NEVER  # when the timer fires

    def arm(self, wait: Wait) -> None:
        """Look at `wait` when its `until` has come; to be called when `until` is before `armed`."""
        wait.armed = wait.until
        heappush(self._heap, (wait.until, next(self._number), wait))
        if wait.until < self._alarm:
            self._set(wait.until)

    def _set(self, alarm: float) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer.close()
        self._alarm = alarm
        self._timer = get_hub().loop.timer(max(alarm - time.perf_counter(), 0.0))
        self._timer.start(self._look, update=True)

    def _look(self) -> None:
        """Runs in the hub: whoever is thrown at here runs until its next wait."""
        now, heap = time.perf_counter(), self._heap
        while heap and heap[0][0] <= now:
            when, _, wait = heappop(heap)
            if wait.armed != when:
                continue  # an earlier look was planned later
            wait.armed = NEVER
            if wait.until > now:
                if wait.until != NEVER:
                    wait.armed = wait.until
                    heappush(heap, (wait.until, next(self._number), wait))
            elif wait.greenlet is not None:
                wait.greenlet.throw(WaitTimeoutError("no answer in time"))
        self._alarm = NEVER
        if heap:
            self._set(heap[0][0])
