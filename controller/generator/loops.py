"""The two ways to send of a worker: users in a closed loop, arrivals in an open one. A share asks for one of them."""

from __future__ import annotations

import time

from controller.generator.crowd import Crowd
from controller.generator.dispatcher import Dispatcher
from controller.generator.wire import Share


class Loops:
    """A crew of both; what a share does not ask for leaves."""

    def __init__(self, crowd: Crowd, dispatcher: Dispatcher) -> None:
        """Nobody sends yet."""
        self._crowd = crowd
        self._dispatcher = dispatcher

    @property
    def running(self) -> int:
        """Users; an open loop has none."""
        return self._crowd.running

    @property
    def asked(self) -> int:
        """Users that should be there."""
        return self._crowd.asked

    @property
    def behind(self) -> float:
        """Seconds for which the next arrival has been due."""
        return self._dispatcher.behind

    def obey(self, share: Share) -> None:
        """As many users or arrivals as the share says; does not wait for anything."""
        self._dispatcher.obey(share)
        self._crowd.obey(share)

    def drain(self, timeout: float) -> None:
        """Everybody finishes what is under way, within `timeout` seconds in all."""
        until = time.monotonic() + timeout
        self._crowd.resize(0)
        self._dispatcher.drain(timeout)
        self._crowd.drain(max(until - time.monotonic(), 0.0))
