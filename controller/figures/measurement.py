"""What is a number worth? A measurement is a value with its sample count and bounds, or its absence with the reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from controller.figures.dependence import FEWEST_BATCHES, effective_size, ratio_variance
from controller.figures.histogram import Histogram
from controller.figures.population import MICROSECONDS, Population
from controller.figures.statistics import nearest_rank, normal_z, quantile_ranks, share_interval, student_t

METHOD = "nearest rank on HdrHistogram places of three significant digits, top of the place"
"""How quantiles are taken; written into every record, because runs are comparable only under one method."""

BEYOND = 10
"""A quantile is shown when at least this many requests are expected beyond it: n >= 10 / (1 - p)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """`value` from `n` requests; the truth lies within `low`..`high` with 95 % confidence, None: not bounded there.

    Counted things (throughput, maximum) are facts about the window: `low` and `high` equal the value. `censored`: the
    value is a lower bound only, because requests that were given up are among those it speaks of.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    censored: bool = False


@dataclass(frozen=True, slots=True)
class Absent:
    """No value, and why; `n` requests were there."""

    reason: str
    n: int = 0
    value: None = None


Measurement = Measured | Absent


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive seconds `[start, end)` (epoch seconds) of a window: a histogram for each outcome that occurred."""

    start: float
    end: float
    outcomes: dict[str, Histogram]

    def histogram(self, outcome: str) -> Histogram:
        """Latencies of one outcome; empty when it did not occur."""
        return self.outcomes.get(outcome, Histogram())


def fact(value: float, n: int) -> Measured:
    """A counted value: nothing about it is estimated."""
    return Measured(value, n, value, value)


def quantile(population: Population, p: Fraction, batches: Sequence[Batch] = ()) -> Measurement:
    """The p-quantile in seconds with its interval from order statistics.

    Absent with fewer than 10 / (1 - p) requests, unless even the lower bound lies among the requests given up: that so
    many of few were given up is certain enough to be said.
    """
    n = population.n
    if n == 0:
        return Absent("no request was answered or timed out")
    rank = nearest_rank(n, p)
    low, high = _ranks(population, rank, p, batches)
    certainly_bound = low > 0 and population.is_bound(low)
    if n * (1 - p) < BEYOND and not certainly_bound:
        return Absent(f"insufficient (n={n})", n)
    return Measured(
        population.value_seconds(rank),
        n,
        population.low_seconds(low) if low > 0 else None,
        population.high_seconds(high) if high is not None and not population.is_bound(high) else None,
        population.is_bound(rank),
    )


def _ranks(population: Population, rank: int, p: Fraction, batches: Sequence[Batch]) -> tuple[int, int | None]:
    """Ranks of the interval's ends, wider where the requests of a batch resemble each other."""
    n, place = population.n, population.place(rank)
    size = max(1, int(effective_size([_upto(batch, place) for batch in batches]))) if batches else n
    low, high = quantile_ranks(size, p)
    return low * n // size, None if high is None else min(n, -(-high * n // size))


def _upto(batch: Batch, place: int) -> tuple[int, int]:
    histograms = (batch.histogram("ok"), batch.histogram("timeout"))
    hits = sum(number for h in histograms for us, number in h.counts.items() if us <= place)
    return hits, sum(h.total for h in histograms)


def mean(ok: Histogram, timeouts: Histogram, batches: Sequence[Batch] = ()) -> Measurement:
    """Mean latency in seconds, exact; its interval from batch means, or from 30 single requests on, else none."""
    n = ok.total + timeouts.total
    if n == 0:
        return Absent("no request was answered or timed out")
    value = (ok.sum_us + timeouts.sum_us) / n / MICROSECONDS
    sums = [_sum(batch) for batch in batches]
    if len(sums) >= FEWEST_BATCHES:
        half = student_t(len(sums) - 1) * math.sqrt(ratio_variance(sums))
    elif n >= 30:
        half = normal_z() * math.sqrt(_variance((ok, timeouts), value, n) / n)
    else:
        return Measured(value, n, censored=timeouts.total > 0)
    high = None if timeouts.total else value + half
    return Measured(value, n, max(0.0, value - half), high, timeouts.total > 0)


def _sum(batch: Batch) -> tuple[float, int]:
    ok, timeouts = batch.histogram("ok"), batch.histogram("timeout")
    return (ok.sum_us + timeouts.sum_us) / MICROSECONDS, ok.total + timeouts.total


def _variance(histograms: Sequence[Histogram], value: float, n: int) -> float:
    counted = (item for histogram in histograms for item in histogram.counts.items())
    squares = ((us / MICROSECONDS - value) ** 2 * number for us, number in counted)
    return math.fsum(squares) / (n - 1)  # exact, so that the order of counting cannot be seen in the last digit


def maximum(population: Population) -> Measurement:
    """The longest latency in seconds; a lower bound when requests were given up."""
    if population.n == 0:
        return Absent("no request was answered or timed out")
    value = population.value_seconds(population.n)
    bound = population.is_bound(population.n)
    return Measured(value, population.n, value, None if bound else value, bound)


def ratio(hits: Sequence[tuple[int, int]]) -> Measurement:
    """A share with its Clopper-Pearson interval; `hits` holds (with the property, all) batch by batch."""
    n, hit = sum(size for _, size in hits), sum(number for number, _ in hits)
    if n == 0:
        return Absent("no request ended")
    size = effective_size(hits)
    low, high = share_interval(hit / n * size, size)
    return Measured(hit / n, n, low, high)
