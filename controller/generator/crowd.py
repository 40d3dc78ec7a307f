"""The users of one worker: as many as ordered, newest leave first, everybody finishes the request under way.

Locust's own way down picks users at random and counts those who still finish a request as running, so that an order
that follows closely starts too few; here those who leave do not count any more.
"""

from __future__ import annotations

from typing import Any

import gevent

from controller.generator.user import ClosedLoopUser
from controller.generator.wire import Share

KILL_SECONDS = 1.0
"""How long a user that was cut gets to write its request down."""


class Crowd:
    """Users of one class on a Locust runner."""

    def __init__(self, runner: Any, user_class: type[ClosedLoopUser]) -> None:
        """Nobody yet."""
        self._runner = runner
        self._name = user_class.__name__
        self._staying: list[ClosedLoopUser] = []
        self._asked = 0

    @property
    def running(self) -> int:
        """Users that are there, with those who finish their last request."""
        return len(self._runner.user_greenlets)

    @property
    def asked(self) -> int:
        """Users that should be there."""
        return self._asked

    def obey(self, share: Share) -> None:
        """As many users as the share says; does not wait for anything."""
        self.resize(share.users)

    def resize(self, users: int) -> None:
        """Let users come or leave until `users` stay; does not wait for anything."""
        self._asked = users
        self._staying = [user for user in self._staying if not user.greenlet.dead]
        while len(self._staying) > users:
            self._staying.pop().leave()
        if (missing := users - len(self._staying)) > 0:
            self._staying += self._runner.spawn_users({self._name: missing})

    def drain(self, timeout: float) -> None:
        """Everybody leaves; whoever has a request under way after `timeout` seconds is cut."""
        self.resize(0)
        self._runner.user_greenlets.join(timeout=timeout)
        self._runner.user_greenlets.kill(timeout=KILL_SECONDS)
        gevent.sleep(0)
