from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from controller.edges.rehearsal import RehearsalClock
from controller.edges.system_clock import SystemClock
from controller.ports import Clock


@pytest.fixture
def clock() -> Iterator[SystemClock]:
    made = SystemClock()
    yield made
    made.close()


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


def test_another_thread_ends_a_sleep(clock: SystemClock) -> None:
    threading.Timer(0.05, clock.wake).start()
    begun = time.monotonic()
    clock.sleep(10)
    assert time.monotonic() - begun < 2


def test_a_signal_ends_a_sleep_and_only_one(clock: SystemClock) -> None:
    before = signal.signal(signal.SIGUSR1, lambda *_: clock.wake())
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        begun = time.monotonic()
        clock.sleep(10)
        assert time.monotonic() - begun < 2
        begun = time.monotonic()
        clock.sleep(0.1)
        assert time.monotonic() - begun >= 0.099
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_waking_nobody_for_ever_does_not_block(clock: SystemClock) -> None:
    for _ in range(100_000):
        clock.wake()
    begun = time.monotonic()
    clock.sleep(10)
    assert time.monotonic() - begun < 2
