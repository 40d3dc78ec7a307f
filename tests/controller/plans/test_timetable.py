"""Stages on the clock, and the load at any moment."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from controller.plans.plan import Hold, Phase, Ramp, Soak, Spike, Stage, Staircase
from controller.plans.timetable import Load, Timetable, boundaries, lay_out, load_at, slot_at, users_at
from tests.controller.builders import a_plan, seconds

US = timedelta(microseconds=1)
WARM = Hold("warm", 5, seconds(15), Phase.WARMUP)
CLIMB = Staircase("climb", 10, 10, 30, seconds(20), seconds(5))
SPIKE = Spike("burst", 2, 80, seconds(10), seconds(30), seconds(20), seconds(4))
RAMP = Ramp("down", 30, 0, seconds(10))
SOAK = Soak("soak", 20, seconds(60), seconds(10))


def timetable(*stages: Stage) -> Timetable:
    return lay_out(a_plan(*stages))


def test_stages_follow_each_other_without_gaps_and_slots_are_numbered_from_zero() -> None:
    laid = timetable(WARM, CLIMB, SPIKE, RAMP, SOAK)
    clock = [(slot.start.seconds, slot.end.seconds) for slot in laid.slots]
    words = [(slot.seq, slot.stage, slot.phase.value) for slot in laid.slots]
    load = [(slot.users_start, slot.users_end) for slot in laid.slots]
    assert [(*one, *two, *three) for one, two, three in zip(words, clock, load, strict=True)] == [
        (0, "warm", "warmup", 0, 15, 5, 5),
        (1, "climb", "steady", 15, 35, 10, 10),
        (2, "climb", "steady", 35, 55, 20, 20),
        (3, "climb", "steady", 55, 75, 30, 30),
        (4, "burst", "warmup", 75, 85, 2, 2),
        (5, "burst", "steady", 85, 115, 80, 80),
        (6, "burst", "cooldown", 115, 135, 2, 2),
        (7, "down", "ramp", 135, 145, 30, 0),
        (8, "soak", "steady", 145, 205, 20, 20),
    ]  # fmt: skip
    assert laid.span == seconds(205)
    assert laid.peak_users == 80


def test_only_steady_slots_have_a_window_and_each_starts_after_its_discard() -> None:
    windows = [slot.window for slot in timetable(WARM, CLIMB, SPIKE, RAMP, SOAK).slots]
    measured = [(20, 35), (40, 55), (60, 75), (89, 115), (155, 205)]
    assert [window for window in windows if window] == [(seconds(a), seconds(b)) for a, b in measured]


def test_a_boundary_stands_wherever_slot_or_measuring_changes() -> None:
    laid = timetable(WARM, Hold("a", 1, seconds(10)), SOAK, RAMP)
    assert boundaries(laid) == tuple(map(seconds, (0, 15, 25, 35, 85)))


def test_users_of_a_ramp_follow_the_line_rounded_half_up() -> None:
    ramp = timetable(Ramp("up", 0, 4, seconds(8))).slots[0]
    assert [users_at(ramp, seconds(s)) for s in (0, 0.9, 1, 2.9, 3, 4, 7.5, 8)] == [0, 0, 1, 1, 2, 2, 4, 4]
    down = timetable(Ramp("down", 4, 0, seconds(8))).slots[0]
    assert [users_at(down, seconds(s)) for s in (0, 1, 1.1, 4, 8)] == [4, 4, 3, 2, 0]
    assert users_at(ramp, seconds(-5)) == 0
    assert users_at(ramp, seconds(99)) == 4


def test_the_end_is_not_part_of_the_run_and_a_moment_before_the_start_counts_as_the_start() -> None:
    laid = timetable(WARM)
    assert load_at(laid, laid.span) is None
    assert slot_at(laid, laid.span) is None
    assert load_at(laid, -seconds(1)) == load_at(laid, seconds(0)) == Load(laid.slots[0], 5, False)


names = st.just("s")
spans = st.integers(1, 3_000_000_000).map(lambda us: timedelta(microseconds=us))
users = st.integers(0, 10_000)
few = st.integers(1, 9)
stages: st.SearchStrategy[Stage] = st.one_of(
    st.builds(Hold, names, users, spans, st.sampled_from([Phase.STEADY, Phase.WARMUP, Phase.COOLDOWN])),
    st.builds(lambda u, s, d: Soak("s", u, s + d, d), users, spans, spans),
    st.builds(Ramp, names, users, users, spans),
    st.builds(lambda a, r, n, s, d: Staircase("s", a, r, a + r * n, s + d, d), users, few, few, spans, spans),
    st.builds(lambda b, p, s, d: Spike("s", b, p, s, s + d, s, d), users, users, spans, spans),
)  # fmt: skip


@given(st.lists(stages, min_size=1, max_size=6))
def test_slots_tile_the_run_exactly(drawn: list[Stage]) -> None:
    laid = timetable(*drawn)
    assert laid.slots[0].start == timedelta(0)
    assert all(one.end == two.start and two.seq == one.seq + 1 for one, two in pairwise(laid.slots))
    assert sum((slot.lasts for slot in laid.slots), timedelta(0)) == laid.span
    assert all(slot.start < slot.end for slot in laid.slots)


@given(st.lists(stages, min_size=1, max_size=6), st.data())
def test_load_at_is_total_and_changes_only_at_boundaries_outside_ramps(drawn: list[Stage], data: st.DataObject) -> None:
    laid = timetable(*drawn)
    moment = data.draw(st.timedeltas(timedelta(seconds=-1), laid.span + seconds(1)))
    load = load_at(laid, moment)
    assert (load is None) == (moment >= laid.span)
    if load is None:
        return
    before = max((edge for edge in boundaries(laid) if edge <= moment), default=timedelta(0))
    there = load_at(laid, before)
    assert there is not None
    assert (there.slot, there.measured) == (load.slot, load.measured)
    low, high = sorted((load.slot.users_start, load.slot.users_end))
    assert low <= load.users <= high
    assert load.measured == (
        load.slot.phase is Phase.STEADY and max(moment, timedelta(0)) >= load.slot.start + load.slot.discard
    )


@given(st.lists(stages, min_size=1, max_size=4))
def test_every_boundary_but_the_first_changes_something(drawn: list[Stage]) -> None:
    laid = timetable(*drawn)
    for edge in boundaries(laid)[1:]:
        before, after = load_at(laid, edge - US), load_at(laid, edge)
        assert before is not None
        assert after is not None
        assert (before.slot, before.measured) != (after.slot, after.measured)
