"""Is the clock right, and does it jump? The kernel's own account (adjtimex), and two clocks compared."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from exporters.family import Family, single
from exporters.names import host as names

STEP_SECONDS = 0.05
"""Slewing moves a clock by at most half a millisecond a second; what moves more between two samples is a jump."""

_SLEW_RATIO = 0.001
_UNSYNCHRONIZED, _NANOSECONDS = 0x0040, 0x2000
_TIMEX = struct.Struct("@i4xqqqqi4x")
"""The head of `struct timex`: modes, offset, frequency, maximum and estimated error, status."""
_TIMEX_BYTES = 512


@dataclass(frozen=True, slots=True)
class Discipline:
    """The kernel's account: seconds still to be moved, seconds of error at most, kept right by a time server."""

    offset: float
    error_max: float
    synchronized: bool


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
    return follow(previous, time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), _discipline())


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


def decode(timex: bytes) -> Discipline:
    """The head of the kernel's structure."""
    _, offset, _, error_max, _, status = _TIMEX.unpack_from(timex)
    unit = 1e-9 if status & _NANOSECONDS else 1e-6
    return Discipline(offset * unit, error_max * 1e-6, not status & _UNSYNCHRONIZED)


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


def _discipline() -> Discipline | None:
    """Ask the kernel; None where a sandbox or another system does not answer."""
    ask = _adjtimex()
    if ask is None:
        return None
    buffer = ctypes.create_string_buffer(_TIMEX_BYTES)
    if ask(buffer) >= 0:
        return decode(buffer.raw)
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EPERM):
        return None
    raise OSError(number, os.strerror(number))


@cache
def _adjtimex() -> Callable[[ctypes.Array[ctypes.c_char]], int] | None:
    """The C library's function; None where it has none."""
    return getattr(ctypes.CDLL(None, use_errno=True), "adjtimex", None)
