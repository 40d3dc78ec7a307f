"""How much of a latency quantile may the generator itself have added?

An answer that has arrived waits until the event loop gets to it, just as a timer does that is due; the workers measure
how long such timers wait (their lag, every 20 ms). So of the quantile p at most about the quantile p of that wait is
the generator's, and in an open loop, whose latency counts from the intended send, the quantile p of the lateness as
well. The assumption is the worst pairing: that the slowest answers are those that waited longest; where waits and
answers have nothing to do with each other it is less. It speaks of the workers' loops only: what the machine does to
target and generator alike is in neither, but the canary's median shows it where there were enough probes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from controller.figures.canary import CanarySeen
from controller.figures.histogram import Histogram
from controller.figures.measurement import Absent, Measured, Measurement
from controller.figures.population import Population
from controller.figures.statistics import decimal_fraction, nearest_rank
from controller.plans.criterion import QUANTILES, Indicator

PROBE_US = 20_000
"""How often a worker asks its loop, microseconds. A longer wait kept it from asking: it stands for those probes."""

LAG = "lag"
"""Key of the waits in a batch."""

NO_READING = Absent("unknown: no reading of the event loops")


def waits(lags_us: Mapping[int, int]) -> Counter[int]:
    """Microseconds of waiting to their number: the lags, and the probes that a long lag has kept from being made."""
    found: Counter[int] = Counter()
    for us, number in lags_us.items():
        for wait in range(us, -1, -PROBE_US):
            found[wait] += number
    return found


def distortion(
    waited: Iterable[Histogram],
    lateness: Histogram | None,
    indicators: Mapping[Indicator, Measurement],
    canary: CanarySeen | None,
) -> dict[Indicator, Measurement]:
    """Seconds that the generator may have added to each quantile, never more than the quantile; `n` probes of the loop.

    Absent where the quantile is absent or nothing was read.
    """
    whole = Histogram()
    for histogram in waited:
        whole.merge(histogram)
    return {name: _added(name, p, whole, lateness, indicators[name], canary) for name, p in QUANTILES.items()}


def _added(
    name: Indicator,
    p: float,
    waited: Histogram,
    lateness: Histogram | None,
    measured: Measurement,
    canary: CanarySeen | None,
) -> Measurement:
    if isinstance(measured, Absent):
        return Absent("the quantile is not known", waited.total)
    if not waited.total:
        return NO_READING
    added = _quantile(waited, p) + (_quantile(lateness, p) if lateness and lateness.total else 0.0)
    if name is Indicator.P50 and canary is not None:
        added = max(added, canary.excess or 0.0)
    return Measured(min(added, measured.value), waited.total)


def _quantile(histogram: Histogram, p: float) -> float:
    population = Population(histogram, Histogram())
    return population.value_seconds(nearest_rank(population.n, decimal_fraction(p)))
