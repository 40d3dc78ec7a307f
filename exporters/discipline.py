"""Is the clock kept right, and how well? The kernel's own account of it (adjtimex)."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

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


def decode(timex: bytes) -> Discipline:
    """The head of the kernel's structure."""
    _, offset, _, error_max, _, status = _TIMEX.unpack_from(timex)
    unit = 1e-9 if status & _NANOSECONDS else 1e-6
    return Discipline(offset * unit, error_max * 1e-6, not status & _UNSYNCHRONIZED)


def read_discipline() -> Discipline | None:
    """Ask the kernel; None where a sandbox or another system does not answer. Raises `OSError` when it refuses."""
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
