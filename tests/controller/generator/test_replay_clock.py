"""The replay's schedule without processes: all workers together send each recorded request once, when it is due."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.generator.replay_clock import ReplayClock
from controller.plans.arrivals import Arrivals

Sent = tuple[float, int]


def asked(speed: float = 1.0, since: float = 0.0) -> Arrivals:
    """A recorded process."""
    return Arrivals(10, 10, 100, "recorded", speed=speed, since=since)


def sent(clock: ReplayClock, until: float) -> list[Sent]:
    """Every request that is due before `until`."""
    found = []
    while clock.due < until:
        found.append((clock.due, clock.index))
        clock.take()
    return found


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_the_union_of_all_workers_is_the_recorded_process(parts: int, speed: float) -> None:
    times = [0.0, 0.0, 0.25, 0.5, 0.5, 0.5, 2.0, 7.75, 8.0]
    found: list[Sent] = []
    for part in range(parts):
        clock = ReplayClock(times)
        clock.change(asked(speed).share(part, parts), 100.0, part, parts, 0.0)
        found += sent(clock, math.inf)
    in_order = sorted(found, key=lambda one: one[1])
    assert [index for _, index in in_order] == list(range(len(times)))
    assert [due for due, _ in in_order] == pytest.approx([100.0 + at / speed for at in times], abs=1e-9)


@given(
    st.lists(st.floats(0, 60), min_size=1, max_size=80),
    st.lists(st.tuples(st.floats(0.2, 6.0), st.integers(1, 4)), min_size=1, max_size=8),
    st.floats(0.1, 5.0),
    st.integers(0, 2**32),
)
def test_whenever_the_workers_change_no_request_is_lost_or_doubled(
    gaps: list[float], changes: list[tuple[float, int]], speed: float, seed: int
) -> None:
    times, source = sorted(gap - min(gaps) for gap in gaps), random.Random(seed)  # noqa: S311 - no secret
    clocks = [ReplayClock(times) for _ in range(4)]
    found, at, working = list[Sent](), 0.0, 0
    for lasts, parts in [(0.0, changes[0][1]), *changes]:
        handover = at + 0.05 if at else 0.0
        for part, clock in enumerate(clocks):
            heard = at + source.uniform(0.0, 0.05)  # a message takes its time, but less than the handover lies ahead
            found += sent(clock, heard)
            if part < parts:
                clock.change(asked(speed).share(part, parts), 0.0, part, parts, handover)
            elif part < working:  # leaves, as it would when it is told so: what is before the handover is still its own
                found += sent(clock, handover)
                clock.clear()
        at, working = at + lasts, parts
    for clock in clocks:
        found += sent(clock, math.inf)
    assert sorted(index for _, index in found) == list(range(len(times)))
    for due, index in found:
        assert due == pytest.approx(times[index] / speed, abs=1e-6)


def test_a_new_order_goes_on_where_the_recording_is_and_a_new_stage_begins_anew() -> None:
    times = [float(second) for second in range(20)]
    clock = ReplayClock(times)
    clock.change(asked(2.0), 100.0, 0, 1, 0.0)
    assert [index for _, index in sent(clock, 102.6)] == [0, 1, 2, 3, 4, 5]
    clock.change(asked(2.0, since=5.0), 102.5, 0, 1, 0.05)  # the window begins: 5 was sent already
    assert [index for _, index in sent(clock, 104.0)] == [6, 7]
    clock.change(asked(2.0), 104.0, 0, 1, 0.0)
    assert sent(clock, 105.1) == [(104.0, 0), (104.5, 1), (105.0, 2)]
    clock.change(asked(1.0), 105.5, 0, 1, 0.0)
    assert sent(clock, 107.0) == [(105.5, 0), (106.5, 1)]
    clock.clear()
    assert math.isinf(clock.due)


def test_a_worker_that_joins_late_takes_its_part_from_the_handover_on() -> None:
    clock = ReplayClock([float(second) for second in range(10)])
    clock.change(asked(), 50.0, 1, 2, 4.5)
    assert sent(clock, math.inf) == [(55.0, 5), (57.0, 7), (59.0, 9)]


def test_an_end_of_the_recording_is_an_end() -> None:
    clock = ReplayClock([0.0, 1.0])
    clock.change(asked(since=30.0), 0.0, 0, 1, 0.0)
    assert math.isinf(clock.due)
