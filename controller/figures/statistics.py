"""How sure can a share or a quantile be, given so many requests? Exact binomial reasoning, no tables, no SciPy.

Everything here rests on one function, the binomial distribution written as a regularised incomplete beta function, so
that it costs O(sqrt n) steps for any n and stays exact for small n, where normal approximations mislead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

CONFIDENCE = 0.95
"""Two-sided confidence of every interval that is shown or judged."""

_TINY = 1e-300
_STEPS = 100_000


def beta_cdf(a: float, b: float, x: float) -> float:
    """I_x(a, b), the distribution function of Beta(a, b), for positive a and b.

    Continued fraction by Lentz's method after Press et al., Numerical Recipes, 3rd edition, 6.4.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_cdf(b, a, 1.0 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return min(1.0, math.exp(front) * _beta_fraction(a, b, x) / a)


def _beta_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-14:
            return fraction
    raise ArithmeticError(f"the incomplete beta fraction of ({a}, {b}) at {x} did not converge")


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def binomial_cdf(k: int, n: int, p: float) -> float:
    """Probability of at most `k` successes in `n` trials with probability `p` each."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return beta_cdf(n - k, k + 1, 1.0 - p)


def nearest_rank(n: int, p: Fraction) -> int:
    """1-based rank of the p-quantile of `n` ordered values: the smallest k with k/n >= p, in exact arithmetic.

    Floats get this wrong: `0.999 * 1000` rounds up to rank 1000 where 999 is right.
    """
    return max(1, math.ceil(p * n))


def decimal_fraction(p: float) -> Fraction:
    """The decimal number that was meant by a float: 0.999 is 999/1000."""
    return Fraction(repr(p))


def quantile_ranks(n: int, p: Fraction, confidence: float = CONFIDENCE) -> tuple[int, int | None]:
    """1-based ranks of the order statistics that enclose the p-quantile with at least this confidence.

    Distribution-free, from the binomial distribution of the number of values below the quantile (David and Nagaraja,
    Order Statistics, 3rd edition, 7.1): `low` is the largest rank whose value exceeds the quantile with at most half of
    the error, `high` the smallest whose value lies below it with at most the other half. Rank 0: not bounded below;
    None: not bounded above by so few values. Assumes independent values; see `dependence` for what to do about that.
    """
    tail, probability = (1.0 - confidence) / 2, float(p)
    low = _first(lambda k: binomial_cdf(k, n, probability) > tail, n)
    high = _first(lambda k: 1.0 - binomial_cdf(k, n, probability) <= tail, n) + 1
    return low, high if high <= n else None


def _first(holds: Callable[[int], bool], n: int) -> int:
    """The smallest k in 0..n for which the monotone `holds` is true; n when there is none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def share_interval(successes: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bounds of a probability of which `successes` of `n` trials were seen (Clopper and Pearson, 1934).

    Never narrower than the confidence asks for, also with no or only successes. `n` may be an effective sample size,
    so both may be fractions (Korn and Graubard, 1998). Without trials nothing is known: 0 to 1.
    """
    if n <= 0:
        return 0.0, 1.0
    tail = (1.0 - confidence) / 2
    low = 0.0 if successes <= 0 else _beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes >= n else _beta_quantile(1.0 - tail, successes + 1, n - successes)
    return low, high


def _beta_quantile(probability: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if beta_cdf(a, b, middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def student_t(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Two-sided critical value of Student's t; the expansion of Abramowitz and Stegun, 26.7.5, for `degrees` >= 4.

    Fewer degrees raise `ValueError`: the expansion is not good enough there, and nothing can be said anyway.
    """
    if degrees < 4:
        raise ValueError(f"no critical value for {degrees} degrees of freedom: at least 4 are needed")
    z = normal_z(confidence)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))


def normal_z(confidence: float = CONFIDENCE) -> float:
    """Two-sided critical value of the normal distribution."""
    return NormalDist().inv_cdf((1.0 + confidence) / 2)
