"""All slots of a run on the clock, computed before it starts, and the load that they ask for at any moment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil
from typing import NamedTuple, assert_never

from controller.plans.arrivals import Arrivals
from controller.plans.plan import Hold, Level, OpenLoop, Phase, Plan, Ramp, Replay, Soak, Spike, Stage, Staircase

MAX_IN_FLIGHT = 10_000
"""Most requests that an open loop keeps under way."""

MAX_SPAN = timedelta(hours=24)
"""Longest stage, and longest run."""

_ZERO = timedelta(0)
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Slot:
    """One phase of one stage: `[start, end)` as offsets from the start of load.

    `users_at` is linear between `users_start` and `users_end`. With `arrivals` the slot is an open loop and has no
    users. `discard` at the slot's start is not measured; a window exists only in steady slots. `seq` counts from 0.
    """

    seq: int
    stage: str
    phase: Phase
    start: timedelta
    end: timedelta
    users_start: int
    users_end: int
    discard: timedelta = _ZERO
    arrivals: Arrivals | None = None

    @property
    def window(self) -> tuple[timedelta, timedelta] | None:
        """The measured half-open interval as offsets from the start of load, in steady slots only."""
        return (self.start + self.discard, self.end) if self.phase is Phase.STEADY else None

    @property
    def rate_end(self) -> float | None:
        """Arrivals a second at the end; None in a closed loop."""
        return None if self.arrivals is None else self.arrivals.end

    @property
    def lasts(self) -> timedelta:
        """From start to end."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Timetable:
    """Slots in order, without gaps."""

    slots: tuple[Slot, ...]

    @property
    def span(self) -> timedelta:
        """Planned time under load, drain excluded."""
        return self.slots[-1].end if self.slots else _ZERO

    @property
    def peak_users(self) -> int:
        """Most users that any slot asks for."""
        return max((max(slot.users_start, slot.users_end) for slot in self.slots), default=0)

    @property
    def peak_rate(self) -> float:
        """Most arrivals a second that any open slot asks for."""
        found = (slot.arrivals for slot in self.slots if slot.arrivals is not None)
        return max((max(arrivals.start, arrivals.end) for arrivals in found), default=0.0)


class Load(NamedTuple):
    """What the timetable asks for at a moment: the slot, its users, whether the moment is measured, and, in an open
    loop, the arrivals from that moment on."""

    slot: Slot
    users: int
    measured: bool
    arrivals: Arrivals | None = None


def lay_out(plan: Plan) -> Timetable:
    """Every stage's slots one after the other: the first starts at 0, each starts where the one before ends."""
    slots: list[Slot] = []
    at = _ZERO
    for stage in plan.stages:
        for slot in slots_of(stage, plan.workload.timeout):
            slots.append(replace(slot, seq=len(slots), start=at, end=at + slot.end))
            at += slot.end
    return Timetable(tuple(slots))


def slots_of(stage: Stage, timeout: timedelta = _SECOND) -> Iterator[Slot]:
    """One stage's slots as if each were the first and started at 0; `lay_out` puts them on the clock.

    `timeout` is that of a request: it says how many can be under way in an open loop.
    """

    def flat(phase: Phase, load: Level, lasts: timedelta, discard: timedelta = _ZERO) -> Slot:
        return slot(phase, load, load, lasts, discard)

    def slot(phase: Phase, start: Level, end: Level, lasts: timedelta, discard: timedelta = _ZERO) -> Slot:
        if stage.loop is None:
            return Slot(0, stage.name, phase, _ZERO, lasts, int(start), int(end), discard)
        arrivals = _arrivals(stage.loop, start, end, lasts, timeout)
        return Slot(0, stage.name, phase, _ZERO, lasts, 0, 0, discard, arrivals)

    match stage:
        case Hold():
            yield flat(stage.phase, stage.load, stage.lasts, stage.discard)
        case Soak():
            yield flat(Phase.STEADY, stage.load, stage.lasts, stage.discard)
        case Ramp():
            yield slot(Phase.RAMP, stage.start, stage.end, stage.lasts)
        case Staircase():
            for number in range(round((stage.end - stage.start) / stage.rise) + 1):
                yield flat(Phase.STEADY, _tidy(stage.start + number * stage.rise), stage.every, stage.discard)
        case Spike():
            yield flat(Phase.WARMUP, stage.base, stage.before)
            yield flat(Phase.STEADY, stage.peak, stage.lasts, stage.discard)
            yield flat(Phase.COOLDOWN, stage.base, stage.after)
        case Replay():
            arrivals = _replayed(stage, timeout)
            yield Slot(0, stage.name, stage.phase, _ZERO, stage.lasts, 0, 0, stage.discard, arrivals)
        case _:
            assert_never(stage)


def _arrivals(loop: OpenLoop, start: Level, end: Level, lasts: timedelta, timeout: timedelta) -> Arrivals:
    """By Little's law rate times timeout requests are under way when every one of them times out."""
    most = min(max(ceil(max(start, end) * (timeout / _SECOND)), 1), MAX_IN_FLIGHT)
    return Arrivals(start, end, lasts / _SECOND, loop.arrivals, loop.max_in_flight or most, loop.seed)


def _replayed(stage: Replay, timeout: timedelta) -> Arrivals:
    """There are slots for the busiest second of the recording when every request of it times out."""
    found = stage.recording
    if found is None:
        raise ValueError(f"the recording of stage {stage.name} was not read")
    busiest = max(found.peak * max(timeout / _SECOND, 1.0), found.burst)
    most = stage.loop.max_in_flight or min(max(ceil(busiest), 1), MAX_IN_FLIGHT)
    lasts = stage.lasts / _SECOND
    return Arrivals(found.mean, found.mean, lasts, "recorded", most, speed=stage.speed, burst=found.burst)


def _tidy(load: Level) -> Level:
    """Without what adding decimal fractions leaves behind; rates have at most three digits after the point."""
    return load if isinstance(load, int) else round(load, 3)


def slot_at(timetable: Timetable, elapsed: timedelta) -> Slot | None:
    """The slot that holds the moment; the first for a moment before the start, None from the end on."""
    if elapsed >= timetable.span:
        return None
    index = bisect_right(timetable.slots, elapsed, key=lambda slot: slot.start)
    return timetable.slots[max(0, index - 1)]


def users_at(slot: Slot, elapsed: timedelta) -> int:
    """Users at a moment (offset from the start of load): a straight line over the slot, rounded half up, in integers.

    A moment outside the slot counts as its nearer end.
    """
    inside = min(max(elapsed - slot.start, _ZERO), slot.lasts)
    if slot.users_start == slot.users_end or not slot.lasts:
        return slot.users_start
    microsecond = timedelta(microseconds=1)
    whole, part = slot.lasts // microsecond, inside // microsecond
    return slot.users_start + (2 * (slot.users_end - slot.users_start) * part + whole) // (2 * whole)


def load_at(timetable: Timetable, elapsed: timedelta) -> Load | None:
    """What to ask of the generator at a moment, as an offset from the start of load; None from the end on.

    A moment before the start counts as the start.
    """
    elapsed = max(elapsed, _ZERO)
    slot = slot_at(timetable, elapsed)
    if slot is None:
        return None
    window = slot.window
    arrivals = slot.arrivals.after((elapsed - slot.start) / _SECOND) if slot.arrivals is not None else None
    return Load(slot, users_at(slot, elapsed), window is not None and window[0] <= elapsed, arrivals)


def boundaries(timetable: Timetable) -> tuple[timedelta, ...]:
    """Every offset before the end at which the slot or whether it is measured changes, rising; the first is 0."""
    starts = {slot.start for slot in timetable.slots}
    windows = {slot.window[0] for slot in timetable.slots if slot.window is not None}
    return tuple(sorted(offset for offset in starts | windows if offset < timetable.span))
