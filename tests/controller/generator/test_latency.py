from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from controller.generator.latency import (
    COARSE_BOUNDS_US,
    DURATION_BOUNDS_US,
    EDGES_US,
    LAG_BOUNDS_US,
    Buckets,
    quantise,
)
from controller.generator.open_book import duration_buckets

LATENCIES = st.integers(min_value=0, max_value=600_000_000)


@given(LATENCIES)
def test_a_quantised_value_is_at_most_a_thousandth_below_and_stays_as_it_is(us: int) -> None:
    kept = quantise(us)
    assert 0 <= us - kept <= us / 1000
    assert quantise(kept) == kept


@given(LATENCIES)
def test_it_falls_into_the_same_bucket_of_an_hdr_histogram_of_three_digits(us: int) -> None:
    histogram = HdrHistogram(1, 600_000_000, 3)
    assert histogram.get_lowest_equivalent_value(us) == quantise(us)


def test_the_values_kept_are_bounded_in_number() -> None:
    second = {quantise(us) for us in range(0, 1_000_000, 7)}
    assert len(second) < 2048 + 1024 * 10


def test_duration_buckets_are_fine_and_few() -> None:
    assert (DURATION_BOUNDS_US[0], DURATION_BOUNDS_US[-1]) == (95, 60_000_000)
    assert all(1.0 < after / before <= 1.05 for before, after in pairwise(DURATION_BOUNDS_US))
    assert set(COARSE_BOUNDS_US) < set(DURATION_BOUNDS_US)
    assert COARSE_BOUNDS_US[-1] == 60_000_000
    assert set(EDGES_US) < set(COARSE_BOUNDS_US)
    series = sum(len(buckets.cumulative()) for buckets in duration_buckets().values())
    assert series < 800  # so many series of one histogram, whatever happens


def as_prometheus_reads(buckets: Buckets, q: float) -> float:
    """`histogram_quantile` of a classic histogram: linear inside the bucket that holds the rank."""
    found = [(float(le), number) for le, number in buckets.cumulative()]
    rank = q * found[-1][1]
    index = next(i for i, (_, number) in enumerate(found) if number >= rank)
    if index == len(found) - 1:
        return found[-2][0]
    start, below = found[index - 1] if index else (0.0, 0.0)
    return start + (found[index][0] - start) * (rank - below) / (found[index][1] - below)


@given(
    st.lists(st.integers(100, 60_000_000), min_size=1, max_size=60),
    st.sampled_from([0.01, 0.5, 0.9, 0.95, 0.99, 0.999]),
)
def test_a_quantile_that_prometheus_reads_is_off_by_a_twentieth_at_most(values: list[int], q: float) -> None:
    buckets = Buckets(DURATION_BOUNDS_US)
    buckets.add(Counter(map(quantise, values)), sum(values))
    true = sorted(values)[max(math.ceil(Fraction(repr(q)) * len(values)), 1) - 1] / 1e6
    assert abs(as_prometheus_reads(buckets, q) - true) <= 0.05 * true


def test_so_it_is_at_every_bound_and_beside_it() -> None:
    for bound in (100, *DURATION_BOUNDS_US[2:-1]):  # from 100 µs on
        for us in (bound, bound + 1):
            buckets = Buckets(DURATION_BOUNDS_US)
            buckets.add({quantise(us): 1_000_000}, us * 1_000_000)
            for q in (1e-6, 0.5, 1.0):
                assert abs(as_prometheus_reads(buckets, q) * 1e6 - us) <= 0.05 * us


@given(st.lists(LATENCIES, max_size=50))
def test_buckets_count_as_prometheus_does(values: list[int]) -> None:
    buckets = Buckets(LAG_BOUNDS_US)
    buckets.add(Counter(values[:20]), sum(values[:20]))
    buckets.add(Counter(values[20:]), sum(values[20:]))
    for le, number in buckets.cumulative():
        assert number == sum(value / 1e6 <= float(le) for value in values)
    assert buckets.cumulative()[-1] == ("+Inf", len(values))
    assert buckets.sum_us == sum(values)
