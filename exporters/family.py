"""One metric family with its samples, before any exposition format: what every collector returns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exporters.metric import Metric

Sample = tuple[tuple[str, ...], float]
"""Label values in the metric's order, and the value in its base unit."""


@dataclass(frozen=True, slots=True)
class Family:
    """A metric and what is known of it now; no samples means that nothing is known, and nothing is shown."""

    metric: Metric
    samples: tuple[Sample, ...]


def single(metric: Metric, value: float | None, *labels: str) -> Family:
    """A family of one series, or of none when the value is unknown."""
    return Family(metric, () if value is None else ((labels, value),))


def many(metric: Metric, samples: Iterable[tuple[tuple[str, ...], float | None]]) -> Family:
    """A family of several series; those with an unknown value are left out."""
    return Family(metric, tuple((labels, value) for labels, value in samples if value is not None))
