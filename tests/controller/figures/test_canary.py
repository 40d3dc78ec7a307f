"""When a lone probe says that the generator measures itself, and when both only see a slow target."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures.canary import PROBES, Probe, doubtful, saturation, seen
from controller.figures.seconds import Second
from tests.controller.loads import T0, Reporter, a_cell, dice


def rows(medians_ms: Sequence[float]) -> list[Second]:
    reporter = Reporter()
    for median in medians_ms:
        reporter.second(a_cell([median] * 5))
    return reporter.ledger.seconds


def probes(latencies_ms: Sequence[float], every: float = 2.0, outcome: str = "ok") -> list[Probe]:
    return [Probe(T0 + every * number + 0.1, ms / 1000, outcome) for number, ms in enumerate(latencies_ms)]


@pytest.mark.parametrize(
    ("own", "generator", "expected"),
    [
        (2.0, 42.0, 2.0),  # 40 ms too much, the limit is 20 ms
        (2.0, 12.0, 0.5),
        (100.0, 160.0, 0.6),  # the limit is as much again as the probe took
        (100.0, 350.0, 2.5),
        (50.0, 20.0, 0.0),  # the probe is slower: that says nothing of the generator
        (500.0, 500.0, 0.0),  # a slow target is slow for both
    ],
)
def test_the_distance_is_the_excess_over_the_limit(own: float, generator: float, expected: float) -> None:
    found = saturation(probes([own] * 12), rows([generator] * 24))
    assert found == pytest.approx(expected, abs=0.01)


def test_a_limit_of_the_plan_counts() -> None:
    assert saturation(probes([2.0] * 12), rows([42.0] * 24), 0.080) == pytest.approx(0.5, abs=0.01)


def test_one_of_ten_may_disagree_and_two_may_not() -> None:
    generator = rows([100.0] * 20)
    assert saturation(probes([5.0] * 9 + [100.0]), generator) == pytest.approx(4.75, rel=0.01)
    assert saturation(probes([5.0] * 8 + [100.0] * 2), generator) == pytest.approx(0.0, abs=0.01)


def test_a_probe_that_disagrees_is_doubtful_until_there_are_enough_of_them() -> None:
    generator = rows([100.0] * 20)
    assert not doubtful([], generator)
    assert not doubtful(probes([100.0] * 5), generator)
    assert doubtful(probes([100.0] * 5 + [5.0]), generator)
    assert not doubtful(probes([100.0] * 5 + [5.0, 100.0]), generator)
    assert not doubtful(probes([100.0] + [5.0] * 9), generator)


def test_too_few_old_or_failed_probes_are_no_reading() -> None:
    generator = rows([100.0] * 100)
    assert saturation(probes([5.0] * (PROBES - 1)), generator) is None
    assert saturation(probes([5.0] * 15, outcome="timeout"), generator) is None
    assert saturation(probes([5.0] * 15), generator) is None  # the newest is 70 s old
    assert saturation(probes([5.0] * 15), []) is None
    assert saturation(probes([5.0] * 15), rows([])) is None


def test_seconds_without_an_answer_are_passed_over() -> None:
    reporter = Reporter()
    reporter.seconds(24)
    assert saturation(probes([5.0] * 12), reporter.ledger.seconds) is None


@given(st.integers(0, 10_000), st.floats(1.0, 300.0), st.floats(0.1, 1.5))
@settings(max_examples=12, deadline=None)
def test_what_comes_from_the_same_distribution_is_no_signal(seed: int, scale: float, spread: float) -> None:
    """Were both to see the same, a false alarm in any one look would be rarer than one in a hundred."""
    chance = dice(seed)
    alarms = 0
    for _ in range(20):
        reporter = Reporter()
        for _ in range(20):
            reporter.second(a_cell([scale * chance.lognormvariate(0.0, spread) for _ in range(15)]))
        own = [scale * chance.lognormvariate(0.0, spread) for _ in range(10)]
        value = saturation(probes(own), reporter.ledger.seconds)
        alarms += value is not None and value >= 1
    assert alarms <= 2


def test_a_window_tells_both_medians_and_their_difference() -> None:
    found = seen(probes([4.0] * 12), rows([9.0] * 24))
    assert found is not None
    assert (found.n, found.p50) == (12, 0.004)
    assert found.excess == pytest.approx(0.005, rel=0.01)
    few = seen(probes([4.0] * 3), rows([9.0] * 24))
    assert few is not None
    assert (few.n, few.p50, few.excess) == (3, None, None)
    assert seen([], rows([9.0])) is None
