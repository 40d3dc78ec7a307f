"""Is the clock right, and does it jump? The kernel's own account (adjtimex), and two clocks compared."""

from __future__ import annotations

import time
from dataclasses import dataclass

from exporters.discipline import Discipline, read_discipline
from exporters.family import Family, single
from exporters.names import host as names

STEP_SECONDS = 0.05
"""Slewing moves a clock by at most half a millisecond a second; what moves more between two samples is a jump."""

_SLEW_RATIO = 0.001


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The kernel's account if it gives one, both clocks, and the jumps since the first reading."""

    discipline: Discipline | None
    wall: float
    steady: float
    steps: int
    last_step: float | None


def read_clock(previous: ClockReading | None) -> ClockReading:
    """Read both clocks and the kernel's account."""
    return follow(previous, time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), read_discipline())


def follow(
    previous: ClockReading | None, wall: float, steady: float, discipline: Discipline | None = None
) -> ClockReading:
    """The next reading: a jump is what the wall clock moved more than the steady one, beyond slewing."""
    if previous is None:
        return ClockReading(discipline, wall, steady, 0, None)
    elapsed = steady - previous.steady
    moved = (wall - previous.wall) - elapsed
    if abs(moved) <= STEP_SECONDS + _SLEW_RATIO * elapsed:
        return ClockReading(discipline, wall, steady, previous.steps, previous.last_step)
    return ClockReading(discipline, wall, steady, previous.steps + 1, moved)


def families(reading: ClockReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    kept = reading.discipline
    return (
        single(names.CLOCK_OFFSET, None if kept is None else kept.offset),
        single(names.CLOCK_ERROR, None if kept is None else kept.error_max),
        single(names.CLOCK_SYNCHRONIZED, None if kept is None else int(kept.synchronized)),
        single(names.CLOCK_STEPS, reading.steps),
        single(names.CLOCK_STEP, reading.last_step),
    )
