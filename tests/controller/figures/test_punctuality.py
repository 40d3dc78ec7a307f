"""Quantiles of lateness, and the shares of arrivals that were not sent."""

from __future__ import annotations

import pytest

from controller.figures.punctuality import ArrivalCount
from controller.orders import ArrivalCell, Interval, decode, encode
from controller.plans.arrivals import Arrivals


def test_counts_add_up_and_lateness_has_exact_ranks() -> None:
    count = ArrivalCount()
    count.add(ArrivalCell(0, True, 100, {"no_slot": 1}, {100: 98, 2000: 1}, 11_800))
    count.add(ArrivalCell(0, True, 10, {"no_slot": 1, "no_lease": 8}, {300: 1}, 300))
    kept = count.punctuality(Arrivals(50, 60, 5, "poisson", max_in_flight=7))
    assert (kept.asked, kept.process, kept.max_in_flight) == (60, "poisson", 7)
    assert (kept.due, kept.sent, kept.dropped) == (110, 100, {"no_lease": 8, "no_slot": 2})
    assert kept.no_slot == pytest.approx(2 / 110)
    assert kept.no_lease == pytest.approx(8 / 110)
    assert (kept.lateness_p50, kept.lateness_p99, kept.lateness_max) == (0.0001, 0.0003, 0.002)


def test_nothing_sent_has_no_lateness_and_nothing_due_no_shares() -> None:
    kept = ArrivalCount().punctuality(Arrivals(5, 5, 5))
    assert (kept.lateness_p50, kept.lateness_p99, kept.lateness_max) == (None, None, None)
    assert (kept.sent, kept.no_slot, kept.no_lease) == (0, 0.0, 0.0)


def test_arrivals_come_through_the_socket_as_they_were() -> None:
    cell = ArrivalCell(3, True, 5, {"no_slot": 2}, {120: 3}, 360)
    told = Interval(1.0, 2.0, (), 3, 3, 0, 0, (), (), (cell,), 5.0)
    assert decode(encode(told)) == told
