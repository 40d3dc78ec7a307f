"""The grid is HdrHistogram's, nothing is lost, and the order of adding does not matter."""

from __future__ import annotations

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures.histogram import Histogram, highest, lowest, merged
from controller.generator.latency import quantise

REFERENCE = HdrHistogram(1, 2**40, 3)
COUNTS = st.dictionaries(st.integers(0, 2**38), st.integers(0, 1000), max_size=30)


@given(st.integers(0, 2**39))
@settings(max_examples=300, deadline=None)
def test_the_grid_is_that_of_hdrhistogram(us: int) -> None:
    assert lowest(us) == REFERENCE.get_lowest_equivalent_value(us) == quantise(us)
    assert highest(us) == REFERENCE.get_highest_equivalent_value(us)


@given(st.integers(1, 2**45))
@settings(max_examples=300, deadline=None)
def test_a_place_is_never_wider_than_a_thousandth(us: int) -> None:
    assert lowest(us) <= us <= highest(us)
    assert highest(us) - lowest(us) <= us * 0.001


@given(st.lists(COUNTS, max_size=6), st.randoms())
@settings(max_examples=60, deadline=None)
def test_merging_is_the_same_as_counting_everything_together(parts: list[dict[int, int]], dice: object) -> None:
    together = Histogram()
    singles = []
    for part in parts:
        total = sum(us * number for us, number in part.items())
        together.add(part, total)
        single = Histogram()
        single.add(part, total)
        singles.append(single)
    dice.shuffle(singles)  # type: ignore[attr-defined]
    union = merged(singles)
    assert union == together
    assert union.total == sum(number for part in parts for number in part.values())
    assert union.sum_us == sum(us * number for part in parts for us, number in part.items())


def test_an_hour_is_kept_like_a_millisecond() -> None:
    histogram = Histogram()
    histogram.add({3_600_000_000: 1, 700_000_000: 2}, 5_000_000_000)
    assert histogram.total == 3
    assert max(histogram.counts) == pytest.approx(3_600_000_000, rel=0.001)


def test_negative_latencies_and_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be negative: -1 us"):
        Histogram().add({-1: 1}, -1)
    with pytest.raises(ValueError, match="count cannot be negative"):
        Histogram().add({5: -2}, -10)


def test_a_copy_is_independent() -> None:
    first = Histogram()
    first.add({100: 1}, 100)
    second = first.copy()
    second.add({100: 1}, 100)
    assert (first.total, second.total) == (1, 2)
