"""A worker's sign of life, and its own knowledge of having been asleep.

A process that was stopped or starved finds out when it runs again: its loop has not turned for too long. The gate is
shut by then (`Gate.beat`), and opens only when the master has answered a question that was asked after waking up.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import gevent
from locust.exception import RPCError

from controller.generator.lease import Gate
from controller.generator.wire import BEAT, WOKEN

BEAT_SECONDS = 0.25
"""How often a worker says that it is there."""

log = logging.getLogger(__name__)


class Heart:
    """Of one worker."""

    def __init__(self, name: str, gate: Gate, send: Callable[[str, dict[str, Any]], None]) -> None:
        """Not beating yet."""
        self._name, self._gate, self._send = name, gate, send
        self._question = 0

    def run(self) -> None:
        """For ever: tell the master, or ask it."""
        awake = True
        while True:
            was_awake, awake = awake, self._gate.beat(time.monotonic())
            if was_awake and not awake:
                self._question += 1
                log.warning("this process was asleep: it sends nothing until the master has said what to do")
            kind, more = (BEAT, {}) if awake else (WOKEN, {"question": self._question})
            try:
                self._send(kind, {"worker": self._name, **more})
            except RPCError:
                log.exception("could not tell the master that this worker is there")
            gevent.sleep(BEAT_SECONDS)

    def hears(self, answer: int) -> None:
        """The master's newest order is in effect; `answer` is the number of the question that it knew."""
        if answer == self._question:
            self._gate.wake(time.monotonic())
