"""Once a second the controller is told what happened in the second before, over all workers."""

from __future__ import annotations

import time
from collections.abc import Callable

import gevent

from controller.generator.book import Book
from controller.generator.pulse import Vitals
from controller.orders import Interval

DELAY = 0.2
"""Workers report when the second changes; this much later the second is told to the controller."""

CLOCK_STEP_SECONDS = 1.5
"""An interval that would end this long before it starts means that somebody has set the clock."""


class Intervals:
    """Follow each other without a gap from the moment on at which the generator was ready."""

    def __init__(
        self,
        book: Book,
        tell: Callable[[Interval], None],
        fault: Callable[[str], None],
        vitals: Callable[[], Vitals] | None = None,
    ) -> None:
        """`tell` gets each interval, `fault` sentences about what went wrong; `vitals` reads this process."""
        self._book, self._tell, self._fault, self._vitals = book, tell, fault, vitals
        self._start: float | None = None  # epoch

    @property
    def begun(self) -> bool:
        """Whether the generator was ready at some time."""
        return self._start is not None

    def begin(self, at: float) -> None:
        """The generator is ready since epoch second `at`."""
        self._start = at

    def run(self) -> None:
        """For ever: wait for the next second."""
        while True:
            gevent.sleep(1.0 - (time.time() - DELAY) % 1.0)
            if self._start is not None:
                self._until(float(int(time.time())))

    def conclude(self) -> None:
        """Whatever the clock says: tell what has been reported since the last interval."""
        self._until(max(time.time(), (self._start or 0.0) + 1e-6))

    def _until(self, end: float) -> None:
        start = self._start or end
        if start - end > CLOCK_STEP_SECONDS:
            self._fault(f"the wall clock went back by {start - end:.1f} s; intervals follow it")
            start = end - 1.0
        if end <= start:  # the second in which the last interval ended is not over
            return
        self._start = end
        if self._vitals is not None:
            self._book.master = self._vitals()
        self._tell(self._book.interval(start, end, time.monotonic()))
