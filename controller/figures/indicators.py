"""Every indicator of a window from its batches: the only place where a figure of a run is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from controller.figures.dependence import groups
from controller.figures.histogram import Histogram, lowest, merged
from controller.figures.measurement import Absent, Batch, Measured, Measurement, fact, maximum, mean, quantile, ratio
from controller.figures.population import MICROSECONDS, Population
from controller.figures.statistics import decimal_fraction, nearest_rank
from controller.plans.criterion import QUANTILES, Indicator
from exporters.names.loadgen import OUTCOMES

SHARE_BORDERS_MS = (0, 100, 200, 500, 1000)
"""Lower borders of the latency shares in milliseconds; the last has no upper end."""


@dataclass(frozen=True, slots=True)
class Share:
    """Requests that took `[low, high)` seconds (`high` None: no end), of all that were answered or given up.

    Given-up requests are in the last share: they took at least the timeout, nobody knows how much longer.
    """

    low: float
    high: float | None
    count: int
    ratio: float


def union(batches: Sequence[Batch]) -> Batch:
    """One batch with the counts of all."""
    names = sorted({name for batch in batches for name in batch.outcomes})
    outcomes = {name: merged([b.outcomes[name] for b in batches if name in b.outcomes]) for name in names}
    return Batch(min((b.start for b in batches), default=0.0), max((b.end for b in batches), default=0.0), outcomes)


def counts(batches: Sequence[Batch]) -> dict[str, int]:
    """Requests by outcome, every outcome named."""
    return {name: sum(batch.histogram(name).total for batch in batches) for name in OUTCOMES}


def window_indicators(batches: Sequence[Batch], seconds: float) -> dict[Indicator, Measurement]:
    """All indicators but saturation of a window of `seconds` length, with intervals that know about dependence."""
    coarse = [union([batches[i] for i in group]) for group in groups(len(batches))]
    return _indicators(union(batches), coarse, seconds)


def second_indicators(batch: Batch) -> dict[Indicator, Measurement]:
    """All indicators but saturation of one interval, for stop rules and live display: plain values without intervals.

    No rule about fewest requests: a second whose own nearest-rank quantile exceeds a bound has more than its share of
    requests beyond it, so what holds in each of several seconds holds for all of them together.
    """
    ok, timeouts, ended = batch.histogram("ok"), batch.histogram("timeout"), _ended(batch)
    population, length = Population(ok, timeouts), batch.end - batch.start
    unanswered, idle = Absent("no request was answered or timed out"), Absent("no request ended")
    n, open_above = population.n, timeouts.total > 0
    sum_us = ok.sum_us + timeouts.sum_us
    found = {indicator: _plain_quantile(population, p) if n else unanswered for indicator, p in QUANTILES.items()}
    found[Indicator.MEAN] = Measured(sum_us / n / MICROSECONDS, n, censored=open_above) if n else unanswered
    found[Indicator.MAX] = maximum(population)
    found[Indicator.THROUGHPUT] = _throughput(ok, length)
    found[Indicator.ERROR_RATIO] = Measured(_errors(batch) / ended, ended) if ended else idle
    found[Indicator.TIMEOUT_RATIO] = Measured(timeouts.total / ended, ended) if ended else idle
    degraded = batch.histogram("degraded").total
    found[Indicator.DEGRADED_RATIO] = Measured(degraded / ended, ended) if ended else idle
    return found


def _plain_quantile(population: Population, p: float) -> Measurement:
    rank = nearest_rank(population.n, decimal_fraction(p))
    return Measured(population.value_seconds(rank), population.n, censored=population.is_bound(rank))


def _throughput(ok: Histogram, seconds: float) -> Measurement:
    return fact(ok.total / seconds, ok.total) if seconds > 0 else Absent("the window has no length")


def _indicators(whole: Batch, coarse: Sequence[Batch], seconds: float) -> dict[Indicator, Measurement]:
    ok, timeouts = whole.histogram("ok"), whole.histogram("timeout")
    population = Population(ok, timeouts)
    parts = coarse or [whole]
    found: dict[Indicator, Measurement] = {
        indicator: quantile(population, decimal_fraction(p), coarse) for indicator, p in QUANTILES.items()
    }
    found[Indicator.MEAN] = mean(ok, timeouts, coarse)
    found[Indicator.MAX] = maximum(population)
    found[Indicator.THROUGHPUT] = _throughput(ok, seconds)
    found[Indicator.ERROR_RATIO] = ratio([(_errors(part), _ended(part)) for part in parts])
    found[Indicator.TIMEOUT_RATIO] = ratio([(part.histogram("timeout").total, _ended(part)) for part in parts])
    found[Indicator.DEGRADED_RATIO] = ratio([(part.histogram("degraded").total, _ended(part)) for part in parts])
    return found


def _ended(batch: Batch) -> int:
    return sum(histogram.total for histogram in batch.outcomes.values())


def _errors(batch: Batch) -> int:
    """A degraded answer is neither `ok` nor an error."""
    return _ended(batch) - batch.histogram("ok").total - batch.histogram("degraded").total


def tail_ratio(found: dict[Indicator, Measurement]) -> Measurement:
    """P99 over mean, the sign of a long tail; 3 is bad."""
    match found[Indicator.P99], found[Indicator.MEAN]:
        case (Absent() as missing, _) | (_, Absent() as missing):
            return missing
        case Measured(censored=True, n=n), _:
            return Absent("timeouts leave P99 open", n)
        case Measured(value=p99, n=n), Measured(value=average):
            return Measured(p99 / average, n) if average > 0 else Absent("the mean is zero", n)
        case _ as never:
            assert_never(never)


def shares(ok: Histogram, timeouts: Histogram) -> tuple[Share, ...]:
    """How the answered and given-up requests spread over the latency classes; none when there are no requests.

    A latency in the same place of the grid as a border (within 0.1 %) counts as above it.
    """
    n = ok.total + timeouts.total
    if n == 0:
        return ()
    found = []
    for number, border in enumerate(SHARE_BORDERS_MS):
        last = number + 1 == len(SHARE_BORDERS_MS)
        high = None if last else SHARE_BORDERS_MS[number + 1]
        count = _between(ok, border, high) + (timeouts.total if last else 0)
        found.append(Share(border / 1000, None if high is None else high / 1000, count, count / n))
    return tuple(found)


def _between(histogram: Histogram, low_ms: int, high_ms: int | None) -> int:
    low, high = lowest(low_ms * 1000), None if high_ms is None else lowest(high_ms * 1000)
    return sum(number for us, number in histogram.counts.items() if us >= low and (high is None or us < high))
