from __future__ import annotations

import time

import pytest

from controller.generator.lease import EXIT_AFTER_SECONDS, FIRST_LEASE_SECONDS, MARGIN_SECONDS, Gate, Lease
from controller.orders import LEASE_SECONDS


def granted(*, at: float, wall: float, now: float = 50.0) -> Lease:
    lease = Lease(0.0, margin=0.25)
    lease.grant(at, wall, now)
    return lease


def test_a_lease_counts_from_its_grant_not_from_its_arrival() -> None:
    lease = granted(at=1000.0, wall=1000.5, now=50.0)
    assert lease.until == 50.0 - 0.5 + LEASE_SECONDS - 0.25
    assert not lease.ran_out(lease.until - 0.001)
    assert lease.ran_out(lease.until)


def test_a_lease_from_the_future_is_worth_no_more_than_one_from_now() -> None:
    assert granted(at=1090.0, wall=1000.0).until == granted(at=1000.0, wall=1000.0).until


def test_an_old_lease_that_arrives_late_shortens_nothing_and_opens_nothing() -> None:
    lease = granted(at=1000.0, wall=1000.0)
    until = lease.until
    lease.grant(998.0, 1001.0, 51.0)
    assert lease.until == until
    assert granted(at=1000.0, wall=1005.0).ran_out(50.0)


def test_a_process_ends_itself_within_ten_seconds_of_its_last_lease() -> None:
    lease = granted(at=1000.0, wall=1000.0, now=50.0)
    assert not lease.must_exit(50.0 + LEASE_SECONDS)
    assert lease.must_exit(50.0 + EXIT_AFTER_SECONDS)
    assert EXIT_AFTER_SECONDS < 10.0
    assert not Lease(0.0).ran_out(1e9)
    assert Lease(0.0).must_exit(FIRST_LEASE_SECONDS)


def test_the_gate_is_closed_without_a_lease_and_for_good_after_it_was_shut() -> None:
    gate = Gate()
    assert not gate.is_open()
    gate.grant(time.time())
    assert gate.is_open()
    gate.shut()
    gate.grant(time.time())
    assert not gate.is_open()


@pytest.mark.parametrize(
    ("age", "open_now"), [(LEASE_SECONDS - MARGIN_SECONDS - 0.1, True), (LEASE_SECONDS - 0.1, False)]
)
def test_the_last_moments_of_a_lease_are_not_used(age: float, open_now: bool) -> None:
    gate = Gate()
    gate.grant(time.time() - age)
    assert gate.is_open() is open_now


def test_a_process_that_slept_does_not_send_until_it_knows_what_to_do() -> None:
    gate = Gate()
    gate.grant(time.time())
    now = time.monotonic()
    assert gate.beat(now - 2.0)  # its heart stood still from then on
    assert gate.slept()
    assert not gate.is_open()
    assert not gate.beat(now)
    gate.grant(time.time())  # a lease alone is not enough: it may have waited in the queue
    assert not gate.beat(time.monotonic())
    assert not gate.is_open()
    gate.wake(time.monotonic())
    assert gate.is_open()
    assert not gate.slept()
    gate.shut()
    gate.wake(time.monotonic())
    assert not gate.is_open()
