"""Intervals against direct sums, published tables and simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures.statistics import (
    beta_cdf,
    binomial_cdf,
    decimal_fraction,
    nearest_rank,
    normal_z,
    quantile_ranks,
    share_interval,
    student_t,
)
from tests.controller.loads import dice


@given(st.integers(1, 60), st.floats(0.001, 0.999), st.data())
@settings(max_examples=60, deadline=None)
def test_the_binomial_is_the_sum_of_its_terms(n: int, p: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(-1, n + 1))
    direct = sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(min(k, n) + 1))
    assert binomial_cdf(k, n, p) == pytest.approx(direct, abs=1e-11)


@pytest.mark.parametrize("n", [1000, 100_000, 10_000_000])
def test_the_binomial_is_normal_where_n_is_large(n: int) -> None:
    middle, deviation = n * 0.3, math.sqrt(n * 0.3 * 0.7)
    below = binomial_cdf(round(middle - 1.959964 * deviation), n, 0.3)
    assert below == pytest.approx(0.025, abs=0.4 / deviation)


def test_beta_at_its_ends() -> None:
    assert (beta_cdf(2, 3, 0.0), beta_cdf(2, 3, 1.0)) == (0.0, 1.0)
    assert beta_cdf(1, 1, 0.25) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("p", "n", "rank"),
    [(0.999, 1000, 999), (0.99, 100, 99), (0.95, 20, 19), (0.5, 20, 10), (0.5, 1, 1), (0.9, 10, 9), (0.999, 999, 999)],
)
def test_ranks_do_not_suffer_from_binary_fractions(p: float, n: int, rank: int) -> None:
    assert nearest_rank(n, decimal_fraction(p)) == rank


def test_order_statistics_of_the_median_of_ten() -> None:
    """A textbook case: the 2nd and 9th of ten enclose the median with 97.9 %, the 3rd and 8th only with 89.1 %."""
    assert quantile_ranks(10, Fraction(1, 2)) == (2, 9)
    assert quantile_ranks(10, Fraction(1, 2), 0.89) == (3, 8)


def test_too_few_values_leave_a_high_quantile_open_above() -> None:
    assert quantile_ranks(300, Fraction(99, 100))[1] is None  # 0.99**300 is 4.9 %, more than 2.5 %
    assert quantile_ranks(370, Fraction(99, 100))[1] == 370


@given(st.integers(1, 5000), st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(999, 1000)]))
@settings(max_examples=80, deadline=None)
def test_ranks_enclose_the_quantile_with_the_confidence_and_no_more_than_needed(n: int, p: Fraction) -> None:
    low, high = quantile_ranks(n, p)
    assert 0 <= low <= nearest_rank(n, p)
    assert high is None or nearest_rank(n, p) <= high <= n
    assert binomial_cdf(low - 1, n, float(p)) <= 0.025 < binomial_cdf(low, n, float(p))
    if high is not None:
        assert 1 - binomial_cdf(high - 1, n, float(p)) <= 0.025 + 1e-12


def test_the_interval_of_a_quantile_covers_it_as_often_as_it_says() -> None:
    """2,000 samples of 1,000 uniform values: the true P99 must lie within in 95 % (three deviations of slack)."""
    rolls, low_high = dice(11), quantile_ranks(1000, Fraction(99, 100))
    low, high = low_high
    assert high is not None
    hits = 0
    for _ in range(2000):
        beyond = sorted(rolls.random() for _ in range(1000))
        hits += beyond[low - 1] <= 0.99 <= beyond[high - 1]
    assert 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000) <= hits / 2000 <= 0.985


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.30850), (5, 10, 0.18709, 0.81291), (10, 10, 0.69150, 1.0), (1, 100, 0.00025, 0.05446)],
)
def test_shares_have_the_published_bounds(hits: int, n: int, low: float, high: float) -> None:
    assert share_interval(hits, n) == pytest.approx((low, high), abs=1e-5)


def test_without_trials_a_share_can_be_anything() -> None:
    assert share_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("degrees", "value"), [(4, 2.776), (9, 2.262), (31, 2.040), (1000, 1.962)])
def test_student_t_as_tabled(degrees: int, value: float) -> None:
    assert student_t(degrees) == pytest.approx(value, abs=2e-3)


def test_student_t_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="at least 4"):
        student_t(3)
    assert normal_z() == pytest.approx(1.959964, abs=1e-6)
