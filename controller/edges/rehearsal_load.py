"""What a rehearsed target answers: how many requests end in a span of time, with which latencies and outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

GOLDEN = 0.6180339887498949
"""Multiples of it modulo one are evenly spread for any number of them: a sample without chance."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The target's behaviour at a moment: mean latency in seconds, share of HTTP errors, generator's distance to its
    limits."""

    mean_latency: float
    error_ratio: float = 0.0
    saturation: float = 0.3


Behaviour = Callable[[float, int], Answers]
"""Seconds since the generator's start and running users → what the target does."""


def closed_loop(service_seconds: float = 0.004, places: int = 8) -> Behaviour:
    """A server with `places` working in parallel: latency is flat until all are taken, then grows with the users."""

    def behave(_elapsed: float, users: int) -> Answers:
        return Answers(service_seconds * max(1.0, users / places))

    return behave


def latencies(first: int, number: int, mean: float) -> Mapping[int, int]:
    """Microseconds to count for requests `first`… of a shifted exponential with this mean in seconds.

    Seven tenths of the mean are fixed, the rest is exponential: the 99th percentile is 2.08 times the mean. Values have
    three significant digits.
    """
    place = ((first + np.arange(number)) * GOLDEN) % 1.0
    exact = mean * 1e6 * (0.7 - 0.3 * np.log1p(-place))
    step = 10.0 ** np.maximum(np.floor(np.log10(np.maximum(exact, 1.0))) - 2, 0)
    rounded, counts = np.unique((np.round(exact / step) * step).astype(np.int64), return_counts=True)
    return dict(zip(rounded.tolist(), counts.tolist(), strict=True))


@dataclass(slots=True)
class Flow:
    """Requests of one slot and outcome that end over time, as whole numbers without losing fractions."""

    owed: float = 0.0
    given: int = 0

    def take(self) -> tuple[int, int]:
        """Index of the first and number of the requests that are due."""
        number = math.floor(self.owed + 1e-9) - self.given
        first, self.given = self.given, self.given + number
        return first, number
