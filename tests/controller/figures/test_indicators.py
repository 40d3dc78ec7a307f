"""Known samples, known answers: the situations of real reports, rebuilt."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures.histogram import Histogram
from controller.figures.indicators import counts, second_indicators, shares, tail_ratio, union, window_indicators
from controller.figures.measurement import Absent, Batch, Measured, Measurement, quantile
from controller.figures.population import Population
from controller.figures.statistics import decimal_fraction, nearest_rank
from controller.plans.criterion import QUANTILES, Indicator
from exporters.names.loadgen import OUTCOMES
from tests.controller.loads import dice


def a_histogram(latencies_ms: Iterable[float]) -> Histogram:
    histogram = Histogram()
    for ms in latencies_ms:
        us = round(ms * 1000)
        histogram.add({us: 1}, us)
    return histogram


def a_batch(start: float = 0.0, **outcomes: Iterable[float]) -> Batch:
    return Batch(start, start + 1, {name: a_histogram(values) for name, values in outcomes.items()})


def value(measurement: Measurement) -> float:
    assert isinstance(measurement, Measured), measurement
    return measurement.value


def test_the_thousand_values_have_the_999th_as_their_p999() -> None:
    population = Population(a_histogram(range(1, 1001)), Histogram())
    rank = nearest_rank(population.n, decimal_fraction(QUANTILES[Indicator.P999]))
    assert rank == 999
    assert population.value_seconds(rank) == pytest.approx(0.999, rel=0.001)
    found = window_indicators([a_batch(ok=range(1, 1001))], 10.0)
    assert value(found[Indicator.P99]) == pytest.approx(0.990, rel=0.001)
    assert value(found[Indicator.P50]) == pytest.approx(0.500, rel=0.001)
    assert value(found[Indicator.MEAN]) == 0.5005  # exact: sums are not rounded
    assert found[Indicator.P999] == Absent("insufficient (n=1000)", 1000)


def test_twenty_requests_have_a_median_and_no_more() -> None:
    found = window_indicators([a_batch(ok=range(100, 240, 7))], 1.0)
    assert value(found[Indicator.P50]) == pytest.approx(0.163, rel=0.001)
    for indicator in (Indicator.P90, Indicator.P95, Indicator.P99, Indicator.P999):
        assert found[indicator] == Absent("insufficient (n=20)", 20)


def test_two_workers_are_merged_and_never_averaged() -> None:
    """300 requests around 10 ms and 30 around 200 ms: the P95 is among the slow ones, not (12 + 207) / 2."""
    rolls = dice(1)
    fast = [rolls.choice([8, 9, 10, 11, 12]) for _ in range(300)]
    slow = [rolls.randint(190, 210) for _ in range(30)]
    found = window_indicators([a_batch(ok=fast), a_batch(ok=slow)], 1.0)
    assert value(found[Indicator.P95]) == pytest.approx(
        sorted(fast + slow)[nearest_rank(330, Fraction(19, 20)) - 1] / 1000, rel=0.001
    )
    assert value(found[Indicator.P95]) > 0.190


def test_fast_errors_do_not_improve_the_latencies() -> None:
    good = [45 + i % 16 for i in range(160)]
    alone = window_indicators([a_batch(ok=good)], 4.0)
    beside = window_indicators([a_batch(ok=good, http_error=[1, 2, 3, 2] * 10)], 4.0)
    for indicator in (Indicator.P50, Indicator.P90, Indicator.MEAN, Indicator.MAX, Indicator.THROUGHPUT):
        assert beside[indicator] == alone[indicator]
    assert value(beside[Indicator.ERROR_RATIO]) == 0.2
    assert value(beside[Indicator.TIMEOUT_RATIO]) == 0.0


def test_timeouts_bound_the_quantiles_from_below() -> None:
    found = window_indicators([a_batch(ok=[80 + i % 320 for i in range(190)], timeout=[5000] * 10)], 4.0)
    p99, p95 = found[Indicator.P99], found[Indicator.P95]
    assert isinstance(p99, Measured)  # only 200 requests, but that more than 1 % took over 5 s is certain
    assert p99.censored
    assert p99.value == pytest.approx(5.0, rel=0.001)
    assert p99.high is None
    assert isinstance(p95, Measured)
    assert not p95.censored  # the 190th of 200 is the slowest answer
    assert p95.high is None  # but how much slower it may be is open
    assert value(found[Indicator.TIMEOUT_RATIO]) == 0.05
    mean, longest = found[Indicator.MEAN], found[Indicator.MAX]
    assert isinstance(mean, Measured)
    assert isinstance(longest, Measured)
    assert mean.censored
    assert longest.censored
    assert isinstance(tail_ratio(found), Absent)


def test_when_everything_times_out_every_quantile_is_a_lower_bound() -> None:
    found = window_indicators([a_batch(timeout=[3000] * 12)], 60.0)
    for indicator in QUANTILES:
        measured = found[indicator]
        assert isinstance(measured, Measured)
        assert (measured.censored, measured.high) == (True, None)
        assert measured.value == pytest.approx(3.0, rel=0.001)
    assert value(found[Indicator.THROUGHPUT]) == 0.0
    assert value(found[Indicator.ERROR_RATIO]) == 1.0


def test_an_answer_slower_than_a_timeout_is_uncertain_too() -> None:
    population = Population(a_histogram([10] * 99 + [3100]), a_histogram([3000]))
    assert not population.is_bound(99)
    assert population.is_bound(100)
    assert population.is_bound(101)


def test_one_stall_in_a_closed_loop_shows_in_the_maximum_only() -> None:
    found = window_indicators([a_batch(ok=[1] * 399 + [600])], 4.0)
    assert value(found[Indicator.P50]) == pytest.approx(0.001, rel=0.001)
    assert value(found[Indicator.MAX]) == pytest.approx(0.6, rel=0.001)


def test_the_order_of_counting_cannot_be_seen_in_any_digit() -> None:
    rolls = dice(8)
    latencies = [rolls.lognormvariate(3, 2) for _ in range(300)]
    first = window_indicators([a_batch(ok=latencies)], 1.0)
    for _ in range(20):
        rolls.shuffle(latencies)
        assert window_indicators([a_batch(ok=latencies)], 1.0) == first


def test_nothing_measured_is_absent_and_not_zero() -> None:
    found = window_indicators([], 10.0)
    absent = {indicator for indicator, measured in found.items() if isinstance(measured, Absent)}
    assert absent == set(found) - {Indicator.THROUGHPUT}
    assert value(found[Indicator.THROUGHPUT]) == 0.0  # nothing in ten seconds is a fact
    assert shares(Histogram(), Histogram()) == ()
    assert counts([]) == dict.fromkeys(OUTCOMES, 0)


def test_shares_have_half_open_borders_and_time_outs_are_in_the_last() -> None:
    found = shares(a_histogram([0, 99, 100, 199, 200, 499, 500, 999, 1000, 5000]), a_histogram([300]))
    assert [(share.low, share.high, share.count) for share in found] == [
        (0.0, 0.1, 2),
        (0.1, 0.2, 2),
        (0.2, 0.5, 2),
        (0.5, 1.0, 2),
        (1.0, None, 3),
    ]
    assert sum(share.ratio for share in found) == pytest.approx(1.0)


def test_a_second_has_quantiles_of_whatever_it_has() -> None:
    found = second_indicators(a_batch(ok=[10, 20, 30], timeout=[3000]))
    assert value(found[Indicator.P50]) == pytest.approx(0.020, rel=0.001)
    p99 = found[Indicator.P99]
    assert isinstance(p99, Measured)
    assert p99.censored


@given(
    st.lists(st.lists(st.integers(1, 10_000_000), max_size=40), min_size=1, max_size=40),
    st.sampled_from(sorted(QUANTILES.values())),
)
@settings(max_examples=80, deadline=None)
def test_a_quantile_lies_within_its_interval_and_within_a_thousandth_of_the_sorted_value(
    seconds: list[list[int]], p: float
) -> None:
    batches = [a_batch(float(i), ok=[us / 1000 for us in part]) for i, part in enumerate(seconds)]
    whole = union(batches).histogram("ok")
    measured = quantile(Population(whole, Histogram()), decimal_fraction(p), batches)
    values = sorted(us for part in seconds for us in part)
    if isinstance(measured, Absent):
        assert len(values) * (1 - decimal_fraction(p)) < 10
        return
    true = values[nearest_rank(len(values), decimal_fraction(p)) - 1] / 1e6
    assert measured.value == pytest.approx(true, rel=0.001)
    assert measured.low is None or measured.low <= measured.value
    assert measured.high is None or measured.high >= measured.value


def test_the_interval_of_p99_covers_the_truth_although_requests_come_in_lumps() -> None:
    """Sixty seconds of which each has its own mood, so that neighbours resemble each other; 120 such windows.

    The true P99 of the mixture is found from a million values. As if independent, the interval would cover it in
    about four fifths of the windows only; with batches it must do so in nearly 95 %.
    """
    rolls = dice(7)

    def second() -> list[float]:
        mood = rolls.choice([1.0, 1.0, 1.0, 2.0])
        return [mood * rolls.expovariate(1 / 10) + 1 for _ in range(50)]

    truth = sorted(us for _ in range(20_000) for us in second())[int(0.99 * 1_000_000)] / 1000
    covered = naive = 0
    for _ in range(120):
        batches = [a_batch(float(i), ok=second()) for i in range(60)]
        population = Population(union(batches).histogram("ok"), Histogram())
        covered += _covers(quantile(population, Fraction(99, 100), batches), truth)
        naive += _covers(quantile(population, Fraction(99, 100)), truth)
    assert covered / 120 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 120)
    assert naive / 120 < 0.9  # else this test would prove nothing


def _covers(measured: Measurement, truth: float) -> bool:
    assert isinstance(measured, Measured)
    assert measured.low is not None
    return measured.low <= truth and (measured.high is None or truth <= measured.high)
