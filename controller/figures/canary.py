"""Does the generator see what a lone probe beside it sees? Both at the same time, at the same target.

The controller's own process sends one request of the workload now and then. A slow target is slow for both; what only
the generator measures is the generator's. Its latencies are in no figure of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from controller.figures.measurement import Measured
from controller.figures.seconds import Second
from controller.plans.criterion import Indicator
from exporters.loadgen_limits import LIMITS

PROBES = 10
"""So many of the newest probes are looked at."""

DISSENTERS = 1
"""So many of them may disagree. Were both the same, each probe would be as likely above the generator's median as below
it, and nine of ten below it come by chance once in a hundred looks; far below it, much more seldom."""

NEWEST_SECONDS = 60.0
"""Older probes tell nothing of now."""

LIMIT_SECONDS = LIMITS["canary"].value
"""By so much, and by as much again as the probe took, the generator's median must exceed the probe's latency."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe: `at` (epoch seconds) it left, `took` seconds later it was answered as `outcome` says."""

    at: float
    took: float
    outcome: str

    @property
    def end(self) -> float:
        """Epoch seconds."""
        return self.at + self.took


@dataclass(frozen=True, slots=True)
class CanarySeen:
    """Of `n` probes inside what was measured of a window: their median, and that of the generator's medians in the same
    seconds, in seconds. None where there were too few."""

    n: int
    p50: float | None
    generator_p50: float | None

    @property
    def excess(self) -> float | None:
        """Seconds by which the generator's median is above the probe's, not below zero."""
        if self.p50 is None or self.generator_p50 is None:
            return None
        return max(0.0, self.generator_p50 - self.p50)


def saturation(probes: Sequence[Probe], rows: Sequence[Second], limit: float = LIMIT_SECONDS) -> float | None:
    """Distance to the limit: what all but one of the last ten answered probes exceed. None with fewer."""
    found = _distances(probes, rows, limit)
    return max(0.0, sorted(found)[DISSENTERS]) if len(found) == PROBES else None


def doubtful(probes: Sequence[Probe], rows: Sequence[Second], limit: float = LIMIT_SECONDS) -> bool:
    """Whether the newest probe disagrees, and it takes more of them to be sure."""
    found = _distances(probes, rows, limit)
    return bool(found) and found[-1] >= 1 and sum(distance >= 1 for distance in found) < PROBES - DISSENTERS


def _distances(probes: Sequence[Probe], rows: Sequence[Second], limit: float) -> list[float]:
    """How far the generator's median was above each of the last ten answered probes, over the limit."""
    if not rows:
        return []
    pairs = _pairs([probe for probe in probes if probe.end > rows[-1].end - NEWEST_SECONDS], rows)[-PROBES:]
    return [(seen - own) / max(limit, own) for own, seen in pairs]


def seen(probes: Sequence[Probe], rows: Sequence[Second]) -> CanarySeen | None:
    """What the probes of these seconds tell; None if there was none."""
    pairs = _pairs(probes, rows)
    if not pairs:
        return None
    if len(pairs) < PROBES:
        return CanarySeen(len(pairs), None, None)
    return CanarySeen(len(pairs), median(own for own, _ in pairs), median(found for _, found in pairs))


def _pairs(probes: Sequence[Probe], rows: Sequence[Second]) -> list[tuple[float, float]]:
    """Each answered probe's latency, and the generator's median of the second in which it was answered."""
    by_second = {int(row.start): row for row in rows}
    found = []
    for probe in probes:
        row = by_second.get(int(probe.end))
        p50 = row.indicators[Indicator.P50] if row is not None else None
        if probe.outcome == "ok" and isinstance(p50, Measured):
            found.append((probe.took, p50.value))
    return found
