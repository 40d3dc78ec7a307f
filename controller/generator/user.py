"""A closed-loop user: takes the next request of the pool, sends it, waits for the answer, thinks, and again.

It is a Locust user with one task that lasts as long as the user: Locust's bookkeeping between tasks costs more than a
request, and Locust's own statistics (rounded, cumulative, growing) are not used.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, ClassVar

import gevent
from locust import User, task
from locust.exception import StopUser

from controller.generator.sender import Sender, Sent
from controller.generator.work import Work

PAUSE_SECONDS = 0.1
"""A user that could not send waits this long: a target that is down must not burn the generator's CPU."""


class ClosedLoopUser(User):
    """One connection, at most one request at a time."""

    work: ClassVar[Work]

    def __init__(self, environment: Any) -> None:
        """Locust makes users; nothing is connected yet."""
        super().__init__(environment)
        self.sender = Sender(self.work)
        self.leaving = False
        self._idle = False  # no request under way: may be ended at any moment

    @task
    def drive(self) -> None:
        """Send until told to leave."""
        gate, think, pacing = self.work.gate, self.work.think, self.work.pacing
        try:
            if (most := pacing or think[1]) > 0:  # users that start together must not stay in step
                self._rest(lambda: gevent.sleep(self.work.random.uniform(0.0, most)))
            first = time.perf_counter()
            while not self.leaving:
                if not gate.is_open():
                    self._rest(gate.wait)
                    continue
                if self.sender.send() is Sent.REFUSED:
                    self._rest(lambda: gevent.sleep(PAUSE_SECONDS))
                if pacing > 0:
                    self._rest(lambda: gevent.sleep(until_beat(time.perf_counter() - first, pacing)))
                elif think[1] > 0:
                    self._rest(lambda: gevent.sleep(self.work.random.uniform(*think)))
        finally:
            self.sender.connection.end()
        raise StopUser

    def leave(self) -> None:
        """Start nothing any more; end at once when idle, otherwise when the request has ended."""
        self.leaving = True
        if self._idle:
            self.greenlet.kill(block=False)

    def _rest(self, pause: Callable[[], None]) -> None:
        if not self.leaving:
            self._idle = True
            pause()
            self._idle = False


def until_beat(elapsed: float, pacing: float) -> float:
    """Seconds to a user's next beat, `elapsed` after its first.

    Beats that passed while it waited for an answer are left out, never caught up: users that were all held up by the
    target go on each in its own rhythm instead of all at once.
    """
    return (math.floor(elapsed / pacing) + 1) * pacing - elapsed
