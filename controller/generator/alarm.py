"""Be called at an exact time: a kernel timer that the event loop watches like a socket.

The loop's own timers come from a clock that is read once a turn and are rounded up to whole milliseconds; a thousand
arrivals a second would come in lumps. A timerfd fires within tens of microseconds of its time (timerfd_create(2)).
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable

from gevent import get_hub

_CLOCK_MONOTONIC = 1
_TFD_TIMER_ABSTIME = 1
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


class _Spec(ctypes.Structure):
    """`struct itimerspec` of 64-bit Linux."""

    _fields_ = [(name, ctypes.c_long) for name in ("every_s", "every_ns", "at_s", "at_ns")]


class Alarm:
    """Anybody sets the time; times are those of `time.perf_counter`."""

    def __init__(self, ring: Callable[[], None]) -> None:
        """Set to never. `ring` is called in the hub and has to set or clear the alarm.

        Raises `OSError` where the system has no such timer.
        """
        if not sys.platform.startswith("linux"):
            raise OSError("an open loop needs timerfd, which only Linux has")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.timerfd_create(_CLOCK_MONOTONIC, _FLAGS)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "could not create a timer")
        self._spec = _Spec(0, 0, 0, 0)
        # perf_counter and CLOCK_MONOTONIC are one clock on Linux; should they ever differ, they differ by a constant
        self._offset = time.clock_gettime(time.CLOCK_MONOTONIC) - time.perf_counter()
        self._watcher = get_hub().loop.io(self._fd, 1)
        self._watcher.start(ring)

    def set(self, at: float) -> None:
        """Fire at `at` instead of whenever it was set to; at once if that has passed."""
        nanoseconds = max(int((at + self._offset) * 1e9), 1)
        self._spec.at_s, self._spec.at_ns = divmod(nanoseconds, 1_000_000_000)
        self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, ctypes.byref(self._spec), None)

    def clear(self) -> None:
        """Do not fire until it is set again."""
        self._spec.at_s = self._spec.at_ns = 0
        self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, ctypes.byref(self._spec), None)
