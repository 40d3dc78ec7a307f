"""How much of a quantile may be the generator's: the formula, its assumption, and that unknown is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures.distortion import waits
from controller.figures.measurement import Absent, Measured
from controller.figures.window import Window
from controller.orders import ArrivalCell, WorkerHealth, decode, encode
from controller.plans.arrivals import Arrivals
from controller.plans.criterion import QUANTILES, Indicator
from controller.verdicts.conclusion import conclude
from tests.controller.loads import T0, Reporter, a_cell, a_slot, remains

GOOD = a_cell([10.0] * 100)


def lagging(*by_worker: Mapping[int, int]) -> tuple[WorkerHealth, ...]:
    return tuple(WorkerHealth(f"worker-{n}", 5, 0.2, {"cpu": 0.2}, lags) for n, lags in enumerate(by_worker))


def window_of(reporter: Reporter) -> Window:
    return conclude(remains(reporter, [a_slot(length=40.0)])).windows[0]


def added(window: Window, indicator: Indicator) -> float:
    found = window.distortion[indicator]
    assert isinstance(found, Measured)
    return found.value


def test_a_long_wait_stands_for_the_probes_that_it_kept_from_being_made() -> None:
    assert waits({300: 2}) == {300: 2}
    assert waits({65_000: 1}) == {65_000: 1, 45_000: 1, 25_000: 1, 5_000: 1}


@given(st.dictionaries(st.integers(0, 200_000), st.integers(1, 5), max_size=8))
def test_waits_add_up(lags: dict[int, int]) -> None:
    assert sum(waits(lags).values()) == sum((us // 20_000 + 1) * number for us, number in lags.items())


def test_each_quantile_has_the_wait_of_the_same_quantile_over_all_workers() -> None:
    reporter = Reporter()
    reporter.seconds(40, GOOD, workers=lagging({200: 48, 3_000: 2}, {400: 50}))
    window = window_of(reporter)
    assert added(window, Indicator.P50) == pytest.approx(0.0004, rel=0.01)
    assert added(window, Indicator.P95) == pytest.approx(0.0004, rel=0.01)
    assert added(window, Indicator.P99) == pytest.approx(0.003, rel=0.01)
    assert window.distortion[Indicator.P99].n == 4000


def test_it_is_never_more_than_the_quantile_itself() -> None:
    reporter = Reporter()
    reporter.seconds(40, GOOD, workers=lagging({15_000: 50}))
    window = window_of(reporter)
    p99 = window.indicators[Indicator.P99]
    assert isinstance(p99, Measured)
    assert added(window, Indicator.P99) == p99.value


def test_without_a_reading_it_is_unknown_and_without_the_quantile_it_is_absent() -> None:
    reporter = Reporter()
    reporter.seconds(40, GOOD)
    assert window_of(reporter).distortion[Indicator.P99] == Absent("unknown: no reading of the event loops")
    few = Reporter()
    few.seconds(40, a_cell([10.0]), workers=lagging({200: 50}))
    window = window_of(few)
    assert isinstance(window.distortion[Indicator.P999], Absent)
    assert added(window, Indicator.P50) == pytest.approx(0.0002, rel=0.01)


def test_an_open_loop_adds_how_late_requests_left() -> None:
    reporter, open_slot = Reporter(), a_slot(length=40.0, users=0)
    late = ArrivalCell(0, True, 100, {}, {1_000: 98, 4_000: 2}, 106_000)
    for _ in range(40):
        reporter.second(
            GOOD, workers=lagging({200: 50}), users=0, intended=(a_cell([11.0] * 100),), arrivals=(late,), rate=100.0
        )
    slot = replace(open_slot, arrivals=Arrivals(100.0, 100.0, 40.0, max_in_flight=50))
    window = conclude(remains(reporter, [slot])).windows[0]
    assert added(window, Indicator.P50) == pytest.approx(0.0012, rel=0.02)
    assert added(window, Indicator.P99) == pytest.approx(0.0042, rel=0.02)


def test_what_was_cut_out_distorts_nothing() -> None:
    reporter = Reporter()
    hot = (WorkerHealth("worker-0", 5, 0.2, {"loop_lag": 3.0}, {60_000: 10}),)
    reporter.seconds(20, GOOD, workers=lagging({200: 50}))
    reporter.seconds(4, GOOD, workers=hot)
    reporter.seconds(16, GOOD, workers=lagging({200: 50}))
    window = window_of(reporter)
    assert window.cut is not None
    assert added(window, Indicator.P99) < 0.001


@given(st.lists(st.tuples(st.integers(1, 80_000), st.integers(0, 19_000)), min_size=200, max_size=200))
@settings(max_examples=10, deadline=None)
def test_the_estimate_covers_what_was_really_added_when_the_slowest_waited_longest(
    pairs: list[tuple[int, int]],
) -> None:
    """True latencies and waits, both in order: the measured quantile exceeds the true one by at most the estimate."""
    true, waited = sorted(t for t, _ in pairs), sorted(w for _, w in pairs)
    reporter = Reporter()
    seen = a_cell([(t + w) / 1000 for t, w in zip(true, waited, strict=True)])
    lags: dict[int, int] = {}
    for us in waited:
        lags[us] = lags.get(us, 0) + 1
    reporter.seconds(40, seen, workers=lagging(lags))
    window = window_of(reporter)
    for indicator in (Indicator.P50, Indicator.P95, Indicator.P99):
        measured = window.indicators[indicator]
        assert isinstance(measured, Measured)
        rank = -(-round(QUANTILES[indicator] * 1000) * 200 // 1000)
        really = measured.value - true[rank - 1] / 1e6
        assert added(window, indicator) >= really - 0.002 * measured.value - 1e-6


def test_lags_come_through_the_socket_as_they_were() -> None:
    reporter = Reporter(now=T0)
    told = reporter.second(GOOD, workers=lagging({200: 49, 31_000: 1}))
    assert decode(encode(told)) == told
