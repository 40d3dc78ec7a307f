"""Wakes callbacks at exact moments: an event loop's own timers round to milliseconds, a timerfd does not."""

from __future__ import annotations

import asyncio
import ctypes
import heapq
import os
import sys
import time
from collections.abc import Callable
from itertools import count

CLOCK_MONOTONIC = 1
TFD_TIMER_ABSTIME = 1
TFD_NONBLOCK_CLOEXEC = 0o2004000
LEAD = 60e-6
"""Seconds the timer is set early, because waking a sleeping process costs about this much; the rest is spun away."""
SPIN = 60e-6
"""Longest remainder in seconds that is spun away and not slept."""
AT_ONCE = 256
"""Callbacks run in one go before sockets get their turn."""

Act = Callable[[], None]


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Itimerspec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class Alarms:
    """Callbacks waiting for their moment on `time.monotonic()`; not before it, and on Linux rarely 0.3 ms after it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Attach to a running loop. Without timerfd (not Linux) the loop's own timers serve, good to 1 ms."""
        self._loop = loop
        self._waiting: list[tuple[float, int, Act]] = []
        self._order = count()
        self._libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
        self._fd = self._libc.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK_CLOEXEC) if self._libc else -1
        if self._fd >= 0:
            loop.add_reader(self._fd, self._on_timer)

    def at(self, due: float, act: Act) -> None:
        """Call `act` at `due` (seconds of `time.monotonic()`); a moment already past means as soon as possible."""
        entry = (due, next(self._order), act)
        heapq.heappush(self._waiting, entry)
        if self._waiting[0] is entry:
            self._arm(due)

    def close(self) -> None:
        """Forget everything that waits."""
        self._waiting.clear()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _arm(self, due: float) -> None:
        wake = max(due - LEAD, 1e-9)
        if self._fd < 0 or self._libc is None:
            self._loop.call_later(max(0.0, wake - time.monotonic()), self._ring)
            return
        seconds = int(wake)
        setting = _Itimerspec(_Timespec(0, 0), _Timespec(seconds, int((wake - seconds) * 1e9)))
        self._libc.timerfd_settime(self._fd, TFD_TIMER_ABSTIME, ctypes.byref(setting), None)

    def _on_timer(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:
            return  # set to a later moment between the wake-up and this call
        self._ring()

    def _ring(self) -> None:
        waiting = self._waiting
        for _ in range(AT_ONCE):
            if not waiting:
                return
            due = waiting[0][0]
            remaining = due - time.monotonic()
            if remaining > SPIN:
                break
            while remaining > 0:
                remaining = due - time.monotonic()
            heapq.heappop(waiting)[2]()
        if waiting:
            self._arm(waiting[0][0])
