from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from controller.generator.latency import DURATION_BOUNDS_US, LAG_BOUNDS_US, Buckets, quantise

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


def test_duration_buckets_grow_by_a_tenth_at_most() -> None:
    assert (DURATION_BOUNDS_US[0], DURATION_BOUNDS_US[-1]) == (100, 60_000_000)
    assert all(1.0 < after / before <= 1.1 for before, after in pairwise(DURATION_BOUNDS_US))
    assert len(DURATION_BOUNDS_US) < 150


@given(st.lists(LATENCIES, max_size=50))
def test_buckets_count_as_prometheus_does(values: list[int]) -> None:
    buckets = Buckets(LAG_BOUNDS_US)
    buckets.add(Counter(values[:20]), sum(values[:20]))
    buckets.add(Counter(values[20:]), sum(values[20:]))
    for le, number in buckets.cumulative():
        assert number == sum(value / 1e6 <= float(le) for value in values)
    assert buckets.cumulative()[-1] == ("+Inf", len(values))
    assert buckets.sum_us == sum(values)
