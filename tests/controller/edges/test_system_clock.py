from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from controller.edges.rehearsal import RehearsalClock
from controller.edges.system_clock import SystemClock
from controller.ports import Clock


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()


@pytest.fixture(params=["system", "rehearsal"])
def either(request: pytest.FixtureRequest, clock: SystemClock) -> Clock:
    return clock if request.param == "system" else RehearsalClock()


def test_sleeping_moves_both_times_by_as_much(either: Clock) -> None:
    before, begun = either.now(), either.monotonic()
    either.sleep(0.05)
    assert 0.049 <= either.monotonic() - begun < 0.5
    assert 0.049 <= (either.now() - before).total_seconds() < 0.5
    assert either.now().tzinfo is UTC


def test_a_time_that_is_past_is_no_wait(either: Clock) -> None:
    begun = either.monotonic()
    either.sleep(0)
    either.sleep(-5)
    assert either.monotonic() - begun < 0.05


def test_the_time_is_the_machine_s(clock: SystemClock) -> None:
    assert abs((clock.now() - datetime.now(UTC)).total_seconds()) < 0.5


def test_threads_sleep_beside_each_other(clock: SystemClock) -> None:
    threads = [threading.Thread(target=clock.sleep, args=(0.2,)) for _ in range(4)]
    begun = clock.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.199 <= clock.monotonic() - begun < 0.75
