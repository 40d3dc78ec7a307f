"""A closed-loop user: takes the next request of the pool, sends it, waits for the answer, thinks, and again.

It is a Locust user with one task that lasts as long as the user: Locust's bookkeeping between tasks costs more than a
request, and Locust's own statistics (rounded, cumulative, growing) are not used.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import gevent
from gevent import GreenletExit, Timeout
from locust import User, task
from locust.exception import StopUser

from controller.generator.answers import AnswerCheck, outcome_of
from controller.generator.connection import Connection
from controller.generator.lease import Gate
from controller.generator.ledger import GENERATOR_ERROR, Account, Ledger
from controller.generator.reasons import Reasons

PAUSE_SECONDS = 0.1
"""A user that could not send waits this long: a target that is down must not burn the generator's CPU."""


@dataclass(frozen=True, slots=True)
class Work:
    """What all users of a process share. `timeout` bounds connecting, sending and receiving together, in seconds;
    `think` is the range of the uniform pause between an answer and the next request, in seconds."""

    requests: Iterator[bytes]  # endless
    family: int
    sockaddr: Any
    timeout: float
    think: tuple[float, float]
    check: AnswerCheck
    gate: Gate
    ledger: Ledger
    reasons: Reasons
    random: random.Random


class ClosedLoopUser(User):
    """One connection, at most one request at a time."""

    work: ClassVar[Work]

    def __init__(self, environment: Any) -> None:
        """Locust makes users; nothing is connected yet."""
        super().__init__(environment)
        self.connection = Connection(self.work.family, self.work.sockaddr)
        self.leaving = False
        self._idle = False  # no request under way: may be ended at any moment

    @task
    def drive(self) -> None:
        """Send until told to leave."""
        gate, think = self.work.gate, self.work.think
        try:
            if think[1] > 0:  # users that start together must not stay in step
                self._rest(lambda: gevent.sleep(self.work.random.uniform(0.0, think[1])))
            while not self.leaving:
                if not gate.is_open():
                    self._rest(gate.wait)
                    continue
                self._request()
                if think[1] > 0:
                    self._rest(lambda: gevent.sleep(self.work.random.uniform(*think)))
        finally:
            self.connection.close()
        raise StopUser

    def leave(self) -> None:
        """Start nothing any more; end at once when idle, otherwise when the request has ended."""
        self.leaving = True
        if self._idle:
            self.greenlet.kill(block=False)

    def _request(self) -> None:
        """One request: counted in exactly one outcome once it has left, whatever happens.

        Its time runs from the moment the user wants to send, so that a connection that has to be made counts in it.
        A connection that could not be made is a request, too.
        """
        work, connection = self.work, self.connection
        account, intended = None, work.ledger.current
        request = next(work.requests)
        timeout = Timeout.start_new(work.timeout)
        began = time.perf_counter()
        try:
            connection.open()
            if not work.gate.is_open():  # it ran out while connecting: nothing has left
                return
            account = work.ledger.begin()
            answer = connection.exchange(request)
            us = round((time.perf_counter() - began) * 1e6)
            outcome = work.check.outcome(answer.status, answer.body)
        except BaseException as error:
            us = round((time.perf_counter() - began) * 1e6)
            timeout.close()
            connection.close()
            if not isinstance(error, Exception | Timeout):
                self._cut(account, error, us)
                raise
            self._failed(account, intended, error, us)
        else:
            work.ledger.end(account, outcome, us)
        finally:
            timeout.close()

    def _failed(self, account: Account | None, intended: Account, error: BaseException, us: int) -> None:
        work, outcome = self.work, outcome_of(error)
        work.ledger.end(account or work.ledger.begin(intended), outcome, us)
        work.reasons.note(outcome, error)
        if account is None or outcome == GENERATOR_ERROR:
            self._rest(lambda: gevent.sleep(PAUSE_SECONDS))

    def _cut(self, account: Account | None, error: BaseException, us: int) -> None:
        """The user is ended in mid-request; what had left is given up and counted."""
        if account is not None:
            self.work.ledger.end(account, GENERATOR_ERROR, us)
            self.work.ledger.aborted += isinstance(error, GreenletExit)

    def _rest(self, pause: Callable[[], None]) -> None:
        if not self.leaving:
            self._idle = True
            pause()
            self._idle = False
