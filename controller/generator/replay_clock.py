"""Which recorded request of this worker is due next, and when? Pure: time is an argument.

Every worker goes through the whole recording and takes each request whose place, divided by the number of workers,
leaves its own part: together they send each request once, in recorded order. When the workers change, all of them pass
to the new division at the same place of the recording, which the master names a little ahead.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from controller.plans.arrivals import Arrivals


class _Rule(NamedTuple):
    """From place `start` on this worker takes each request whose place modulo `parts` is `part`."""

    start: int
    part: int
    parts: int


class ReplayClock:
    """`due` is when request `index` is due, in seconds on the clock that `change` speaks of; infinite when none is."""

    __slots__ = ("_arrivals", "_next", "_origin", "_rules", "_times", "due", "index")

    def __init__(self, times: Sequence[float]) -> None:
        """`times` of the recording, rising from 0."""
        self._times = times
        self._arrivals: Arrivals | None = None
        self._origin = 0.0
        self._next = 0  # no request before this place is ever sent again
        self._rules: list[_Rule] = []
        self.due = math.inf
        self.index = 0

    def change(self, arrivals: Arrivals, origin: float, part: int, parts: int, handover: float) -> None:
        """The recording goes as `arrivals` say, which began at `origin`; this worker is `part` of `parts` from
        `handover` seconds after that on. If it is where it was, what was sent is not sent again."""
        before = self._arrivals
        goes_on = before is not None and before.is_continued_by(origin - self._origin, arrivals)
        start = bisect_left(self._times, arrivals.position(handover))
        if goes_on:
            self._rules = [rule for rule in self._rules if rule.start < start]
        else:
            self._rules, self._next = [], start
        self._rules.append(_Rule(start, part, parts))
        self._arrivals, self._origin = arrivals, origin
        self._aim()

    def clear(self) -> None:
        """Nothing is due any more."""
        self._arrivals, self._rules, self.due = None, [], math.inf

    def take(self) -> None:
        """Request `index` is dealt with; on to the next one."""
        self._next = self.index + 1
        self._aim()

    def _aim(self) -> None:
        arrivals, index = self._arrivals, self._mine()
        if arrivals is None or index is None:
            self.due = math.inf
        else:
            self.index = index
            self.due = self._origin + (self._times[index] - arrivals.since) / arrivals.speed

    def _mine(self) -> int | None:
        ends = [rule.start for rule in self._rules[1:]] + [len(self._times)]
        for rule, end in zip(self._rules, ends, strict=True):
            first = max(self._next, rule.start)
            place = first + (rule.part - first) % rule.parts
            if place < end:
                return place
        return None
