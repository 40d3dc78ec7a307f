"""When is the next arrival of this worker due? An absolute schedule in expected arrivals; pure, time is an argument.

Arrivals are counted by what is expected of them: the integral of the rate. A constant process takes every whole
number, moved by the worker's part, so that the arrivals of all workers together are evenly spaced; a Poisson process
adds independent exponential gaps of mean 1, which is exact for any course of the rate. What was expected and not yet
due is carried over from one order to the next, so that no arrival is lost or doubled where orders meet.
"""

from __future__ import annotations

import math
import random

from controller.plans.arrivals import Arrivals


class ArrivalClock:
    """`due` is when the next arrival is due, in seconds on the clock that `change` speaks of; infinite when none is."""

    __slots__ = ("_arrivals", "_last", "_origin", "_random", "_since", "_target", "due")

    def __init__(self) -> None:
        """No arrivals yet."""
        self._arrivals: Arrivals | None = None
        self._origin = 0.0
        self._since = 0.0  # clock time from which `_target` counts
        self._target = 0.0  # expected arrivals after `_since` at which the next one is due
        self._last = 0.0  # when the newest arrival taken was due
        self._random: random.Random | None = None  # None: a constant process
        self.due = math.inf

    def change(
        self, at: float, arrivals: Arrivals | None, origin: float, part: int, parts: int, *, anew: bool = False
    ) -> None:
        """From `at` on there are `arrivals`, already this worker's share, whose own time began at `origin`. `anew`: the
        workers have changed, and all of them take their places in a constant process again at the same `at`."""
        if anew and arrivals is not None and arrivals.process == "constant":
            self._place_anew(at, arrivals, origin, (part + 0.5) / parts)
            return
        before, left = self._arrivals, 0.0
        if before is not None:
            at = max(at, self._last)
            left = max(self._target - before.expected(self._since - self._origin, at - self._origin), 0.0)
        if arrivals is not None and (before is None or _kind(before) != _kind(arrivals)):
            self._random = _random(arrivals, part)
            left = (part + 0.5) / parts if self._random is None else self._random.expovariate(1.0)
        self._arrivals, self._origin, self._since, self._target = arrivals, origin, at, left
        self._aim()

    def _place_anew(self, at: float, arrivals: Arrivals, origin: float, left: float) -> None:
        sent_until, self._random = self._last, None
        self._arrivals, self._origin, self._since, self._target = arrivals, origin, at, left
        self._aim()
        while self.due <= sent_until:
            self.take()

    def clear(self) -> None:
        """No arrivals any more."""
        self._arrivals, self.due = None, math.inf

    def take(self) -> None:
        """The arrival that was due is dealt with; on to the next one."""
        self._last = self.due
        self._target += 1.0 if self._random is None else self._random.expovariate(1.0)
        self._aim()

    def _aim(self) -> None:
        arrivals = self._arrivals
        if arrivals is None:
            self.due = math.inf
        else:
            self.due = self._origin + arrivals.moment(self._since - self._origin, self._target)


def _kind(arrivals: Arrivals) -> tuple[str, int]:
    return arrivals.process, arrivals.seed if arrivals.process == "poisson" else 0


def _random(arrivals: Arrivals, part: int) -> random.Random | None:
    if arrivals.process == "constant":
        return None
    return random.Random(f"{arrivals.seed}/{part}")  # noqa: S311 - repeatable arrivals, no secret
