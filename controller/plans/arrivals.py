"""An open loop in numbers: how many arrivals a second are asked for, and when the next one is due; pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

Process = Literal["constant", "poisson", "recorded"]
"""Constant: evenly spaced. Poisson: independent of each other, with exponential gaps. Recorded: at recorded times."""

SAME_PLACE_SECONDS = 0.5
"""An order that begins no further than this from where a replay is goes on with it; any other begins anew."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Arrivals a second that go evenly from `start` to `end` within `lasts` seconds and stay there.

    At most `max_in_flight` requests are under way; an arrival that finds no free slot is dropped and counted. `seed` is
    that of a Poisson process.

    A recorded process begins `since` seconds after the recording's first request and goes through it `speed` times as
    fast; its `start` and `end` are the mean rate, and `burst` is the most that come within a tenth of a second.
    """

    start: float
    end: float
    lasts: float
    process: Process = "constant"
    max_in_flight: int = 1000
    seed: int = 1
    speed: float = 1.0
    since: float = 0.0
    burst: int = 0

    def rate(self, elapsed: float) -> float:
        """Arrivals a second, `elapsed` seconds after the start."""
        if self.start == self.end or elapsed >= self.lasts:
            return self.end
        return self.start + (self.end - self.start) * max(elapsed, 0.0) / self.lasts

    def expected(self, since: float, until: float) -> float:
        """How many arrivals are expected from `since` to `until`, both in seconds after the start."""
        return self._upto(until) - self._upto(since)

    def moment(self, since: float, number: float) -> float:
        """When `number` more arrivals are expected after `since`: seconds after the start, infinite if never."""
        if self.start == self.end:  # no ramp: asked for each arrival, so in the fewest steps
            return since + number / self.end if self.end > 0 else math.inf
        ramp_end = max(self.lasts, since)
        before = self.expected(since, ramp_end)
        if number > before:
            left = number - before
            return ramp_end + left / self.end if self.end > 0 else math.inf
        slope = (self.end - self.start) / self.lasts
        rate = self.rate(since)
        # rate * t + slope * t**2 / 2 = number, in the form that loses no digits where the slope is small
        root = math.sqrt(max(rate * rate + 2.0 * slope * number, 0.0))
        return since + 2.0 * number / (rate + root) if rate + root > 0 else since

    def after(self, elapsed: float) -> Arrivals:
        """What is left of it `elapsed` seconds after the start."""
        left, since = max(self.lasts - max(elapsed, 0.0), 0.0), self.position(max(elapsed, 0.0))
        return replace(self, start=self.rate(elapsed), lasts=left, since=since)

    def position(self, elapsed: float) -> float:
        """Where in its recording a recorded process is, in recorded seconds; 0 for any other."""
        return self.since + elapsed * self.speed if self.process == "recorded" else 0.0

    def is_continued_by(self, elapsed: float, later: Arrivals) -> bool:
        """Whether `later`, which begins `elapsed` seconds after this, goes on where this recorded process is then."""
        if self.process != "recorded" or later.process != "recorded" or self.speed != later.speed:
            return False
        return abs(self.position(elapsed) - later.since) <= SAME_PLACE_SECONDS * self.speed

    def share(self, part: int, parts: int) -> Arrivals:
        """The part of one of `parts` workers: an equal share of the rate, whole slots."""
        slots = self.max_in_flight // parts + (part < self.max_in_flight % parts)
        return replace(self, start=self.start / parts, end=self.end / parts, max_in_flight=slots)

    def _upto(self, elapsed: float) -> float:
        inside = min(max(elapsed, 0.0), self.lasts)
        return (self.start + self.rate(inside)) / 2 * inside + self.end * (max(elapsed, 0.0) - inside)
