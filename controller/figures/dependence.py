"""How many independent requests are these worth? Neighbours in time share queues and pauses; their number flatters.

The window is cut into batches of consecutive seconds. If a share differs between batches more than chance would make it
differ, the requests count for fewer: the effective sample size of Korn and Graubard (Survey Methodology 24, 1998), with
batches as clusters and the ratio estimator's variance (Cochran, Sampling Techniques, 3rd edition, 6.3). At most 32
batches, as recommended for batch means by Schmeiser (Operations Research 30, 1982); with fewer than 10 nothing about
dependence can be seen and the requests are taken as independent.
"""

from __future__ import annotations

from collections.abc import Sequence

from controller.figures.statistics import normal_z, student_t

FEWEST_BATCHES = 10
MOST_BATCHES = 32


def effective_size(hits: Sequence[tuple[int, int]]) -> float:
    """Independent requests that would say as much about a share as these; at least 1, at most their number.

    `hits` holds, batch by batch, how many requests have the property and how many there are.
    """
    n = sum(size for _, size in hits)
    share = sum(hit for hit, _ in hits) / n if n else 0.0
    if len(hits) < FEWEST_BATCHES or share in (0.0, 1.0):
        return float(n)
    variance = ratio_variance([(float(hit), size) for hit, size in hits])
    if variance <= 0:
        return float(n)
    correction = (normal_z() / student_t(len(hits) - 1)) ** 2
    return max(1.0, min(float(n), share * (1 - share) / variance * correction))


def ratio_variance(batches: Sequence[tuple[float, int]]) -> float:
    """Variance of (sum of amounts) / (sum of sizes), from how it differs between batches of (amount, size)."""
    number, n = len(batches), sum(size for _, size in batches)
    ratio = sum(amount for amount, _ in batches) / n
    squares = sum((amount - ratio * size) ** 2 for amount, size in batches)
    return number / (number - 1) * squares / n**2


def groups(number: int) -> tuple[range, ...]:
    """Consecutive runs of equal length over `number` batches so that at most `MOST_BATCHES` remain."""
    length = max(1, -(-number // MOST_BATCHES))
    return tuple(range(first, min(first + length, number)) for first in range(0, number, length))
