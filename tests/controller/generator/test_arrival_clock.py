"""The schedule of arrivals, without processes: the union of all workers is the asked process, whatever orders come."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.generator.arrival_clock import ArrivalClock
from controller.plans.arrivals import Arrivals

RATES = st.floats(0.5, 5_000)


def dues(clock: ArrivalClock, until: float) -> list[float]:
    """Every arrival that is due before `until`."""
    found = []
    while clock.due < until:
        found.append(clock.due)
        clock.take()
    return found


def union(arrivals: Arrivals, parts: int, until: float) -> list[float]:
    """What all workers together do from 100 s on."""
    found: list[float] = []
    for part in range(parts):
        clock = ArrivalClock()
        clock.change(100.0, arrivals.share(part, parts), 100.0, part, parts)
        found += dues(clock, until)
    return sorted(found)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_a_constant_process_of_any_number_of_workers_is_evenly_spaced(parts: int) -> None:
    found = union(Arrivals(700, 700, 10), parts, 110.0)
    assert len(found) == 7000
    assert all(after - before == pytest.approx(1 / 700, abs=1e-9) for before, after in pairwise(found))


def test_a_schedule_is_absolute_and_does_not_drift() -> None:
    clock = ArrivalClock()
    clock.change(0.0, Arrivals(1000, 1000, 600), 0.0, 0, 1)
    found = dues(clock, 600.0)
    assert len(found) == 600_000
    assert found[-1] == pytest.approx(600 - 0.0005, abs=1e-9)


@settings(deadline=None)
@given(st.floats(0, 2000), st.floats(0, 2000), st.integers(1, 5))
def test_a_ramp_has_as_many_arrivals_as_its_area_and_each_is_where_the_area_says(
    a: float, b: float, parts: int
) -> None:
    asked = Arrivals(a, b, 3.0)
    found = union(asked, parts, 103.0)
    assert abs(len(found) - 1.5 * (a + b)) <= parts / 2 + 1e-6
    for number, due in enumerate(found):
        assert abs(asked.expected(0, due - 100.0) - (number + 0.5)) <= parts / 2 + 1e-3


def test_a_poisson_process_is_one_also_as_a_union_and_repeats_with_its_seed() -> None:
    asked = Arrivals(500, 500, 40, "poisson", seed=3)
    found = union(asked, 4, 140.0)
    assert found == union(asked, 4, 140.0)
    assert found != union(Arrivals(500, 500, 40, "poisson", seed=4), 4, 140.0)
    n = 20_000
    assert abs(len(found) - n) < 4 * math.sqrt(n)
    gaps = [after - before for before, after in pairwise(found)]
    mean = sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    assert spread / mean == pytest.approx(1.0, abs=0.05)
    beyond = sum(gap > mean * math.log(2) for gap in gaps) / len(gaps)  # half of all exponential gaps
    assert beyond == pytest.approx(0.5, abs=0.02)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.001, 2.0), RATES), min_size=1, max_size=8))
def test_where_orders_meet_no_arrival_is_lost_or_doubled(orders: list[tuple[float, float]]) -> None:
    clock, at, expected, found = ArrivalClock(), 50.0, 0.0, list[float]()
    for lasts, rate in orders:
        clock.change(at, Arrivals(rate, rate, lasts), at, 0, 1)
        found += dues(clock, at + lasts)
        at, expected = at + lasts, expected + rate * lasts
    assert abs(len(found) - expected) <= 0.5 + 1e-6
    assert all(before < after for before, after in pairwise(found))


def test_an_order_that_took_effect_a_little_before_it_came_sends_nothing_twice() -> None:
    clock = ArrivalClock()
    clock.change(0.0, Arrivals(1000, 1000, 10), 0.0, 0, 1)
    first = dues(clock, 5.0)
    clock.change(4.99, Arrivals(1000, 1000, 10), 4.99, 0, 1)  # ten of its arrivals are out already
    found = first + dues(clock, 10.0)
    assert len(found) == 10_000
    assert all(after - before == pytest.approx(0.001, abs=1e-9) for before, after in pairwise(found))


def test_the_same_order_given_anew_goes_on_where_its_ramp_is() -> None:
    whole, clock = ArrivalClock(), ArrivalClock()
    ramp = Arrivals(100, 300, 10)
    for each in (whole, clock):
        each.change(0.0, ramp, 0.0, 0, 1)
    found = dues(clock, 4.0)
    clock.change(4.0, ramp, 0.0, 0, 1)
    assert found + dues(clock, 10.0) == pytest.approx(dues(whole, 10.0), abs=1e-9)


def test_no_rate_and_no_arrivals_are_never_due() -> None:
    clock = ArrivalClock()
    assert math.isinf(clock.due)
    clock.change(0.0, Arrivals(0, 0, 5), 0.0, 0, 1)
    assert math.isinf(clock.due)
    clock.change(1.0, Arrivals(0, 10, 5), 1.0, 0, 1)
    assert clock.due == pytest.approx(1.0 + math.sqrt(0.5))  # half an arrival under a rate of 2 t
    clock.change(2.0, None, 0.0, 0, 1)
    assert math.isinf(clock.due)


def test_slots_and_rate_are_shared_out_wholly() -> None:
    shares = [Arrivals(10, 20, 5, max_in_flight=8).share(part, 3) for part in range(3)]
    assert [share.max_in_flight for share in shares] == [3, 3, 2]
    assert sum(share.end for share in shares) == pytest.approx(20)


def test_workers_that_are_divided_anew_take_their_places_in_one_even_process_again() -> None:
    whole = Arrivals(100, 100, 10)
    clocks = [ArrivalClock() for _ in range(3)]
    for part, clock in enumerate(clocks):
        clock.change(0.0, whole.share(part, 3), 0.0, part, 3)
    for clock in clocks:
        dues(clock, 2.0)
    for part, clock in enumerate(clocks[:2]):
        clock.change(2.0, whole.share(part, 2), 0.0, part, 2, anew=True)
    due = sorted(dues(clocks[0], 4.0) + dues(clocks[1], 4.0))
    assert len(due) == 200
    gaps = [later - earlier for earlier, later in pairwise(due)]
    assert max(gaps) == pytest.approx(0.01, abs=1e-9)
    assert min(gaps) == pytest.approx(0.01, abs=1e-9)


def test_what_was_sent_before_the_division_was_heard_of_is_not_sent_again() -> None:
    clock = ArrivalClock()
    clock.change(0.0, Arrivals(100, 100, 10), 0.0, 0, 1)
    sent = dues(clock, 1.05)
    clock.change(1.0, Arrivals(100, 100, 10).share(0, 2), 0.0, 0, 2, anew=True)
    assert clock.due > max(sent)
    assert clock.due == pytest.approx(1.065)  # its places after 1.0 are 1.005, 1.025, 1.045 and so on
