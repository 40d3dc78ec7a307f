"""The machine's clocks, and a sleep that a signal can end."""

from __future__ import annotations

import os
import select
import time
from datetime import UTC, datetime


class SystemClock:
    """`wake` ends the sleep that is on, or else the next one."""

    def __init__(self) -> None:
        """Open the pipe through which sleeps are ended."""
        self._asleep, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._asleep, select.POLLIN)

    def now(self) -> datetime:
        """Aware UTC time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds; only differences mean anything."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait to the millisecond, or until woken; a time that is past is no wait."""
        if seconds > 0 and self._poll.poll(seconds * 1000.0):
            os.read(self._asleep, 4096)

    def wake(self) -> None:
        """End a sleep; made for signal handlers: a write to a pipe takes no lock that the sleeper could hold."""
        try:
            os.write(self._waker, b"w")
        except BlockingIOError:
            return  # full: nobody sleeps that long

    def close(self) -> None:
        """Give the pipe back."""
        os.close(self._asleep)
        os.close(self._waker)
