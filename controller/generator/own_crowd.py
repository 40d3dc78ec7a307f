"""Users of somebody's classes in one worker: as many of each class as the plan's stage and the weights ask for."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

import gevent
from locust import User

from controller.generator.crowd import KILL_SECONDS
from controller.generator.own_classes import dealt
from controller.generator.own_recording import Recording
from controller.generator.wire import Share

log = logging.getLogger(__name__)


class OwnCrowd:
    """Newest users leave first; each finishes its task and its `on_stop`."""

    def __init__(
        self, runner: Any, classes: Mapping[str, type[User]], recording: Recording, warn: Callable[[str], None]
    ) -> None:
        """Nobody yet; `warn` gets sentences for the record."""
        self._runner, self._classes, self._recording, self._warn = runner, classes, recording, warn
        self._staying: dict[str, list[User]] = {name: [] for name in classes}
        self._began = self._short = False
        self._asked = 0

    @property
    def running(self) -> int:
        """Users that are there, with those who finish their last task."""
        return len(self._runner.user_greenlets)

    @property
    def asked(self) -> int:
        """Users that should be there: those dealt to this worker, or its share where the classes give too few."""
        return self._asked

    @property
    def behind(self) -> float:
        """Nothing is due: users of somebody's own classes send when they like."""
        return 0.0

    def obey(self, share: Share) -> None:
        """Let users come or leave; users that failed to start are not replaced before the next order."""
        self._recording.switched()
        if not self._began:
            self._began = True
            environment = self._runner.environment
            environment.events.test_start.fire(environment=environment)
        wanted = dealt(self._classes, share.total, share.part, share.parts)
        can_be_dealt = dealt(self._classes, share.total, 0, 1).total()
        self._asked = wanted.total() if can_be_dealt >= share.total else share.users
        self._say_if_short(share, wanted.total())
        for name, staying in self._staying.items():
            staying[:] = [user for user in staying if not user.greenlet.dead]
            while len(staying) > wanted[name]:
                gevent.spawn(_stop, staying.pop())
            if (missing := wanted[name] - len(staying)) > 0:
                staying.extend(self._spawn(name, missing))

    def drain(self, timeout: float) -> None:
        """Everybody finishes the task under way; whoever is still busy after `timeout` seconds is cut and counted."""
        environment, users = self._runner.environment, self._runner.user_greenlets
        environment.events.test_stopping.fire(environment=environment)
        self._asked = 0
        for staying in self._staying.values():
            for user in staying:
                gevent.spawn(_stop, user)
            staying.clear()
        gevent.sleep(0)
        users.join(timeout=timeout)
        self.cut()
        environment.events.test_stop.fire(environment=environment)

    def cut(self) -> None:
        """End everybody now, whatever they do."""
        users = self._runner.user_greenlets
        if busy := len(users):
            log.warning("%d users were still in a task and were ended", busy)
        users.kill(timeout=KILL_SECONDS)
        self._recording.cut()

    def _spawn(self, name: str, number: int) -> list[User]:
        try:
            users: list[User] = self._runner.spawn_users({name: number})
        except Exception as error:  # noqa: BLE001 - somebody's constructor
            self._warn(f"could not make a user of {name}: {type(error).__name__}: {error}")
            return []
        return users

    def _say_if_short(self, share: Share, wanted: int) -> None:
        if wanted < share.users and not self._short:
            self._short = True
            self._warn(
                f"only {wanted} of {share.users} users can be dealt out: every class of the locustfile has a "
                "fixed_count; give one a weight, or the stage fewer users"
            )


def _stop(user: User) -> None:
    with contextlib.suppress(Exception):  # it has ended meanwhile
        user.stop(force=False)
