"""One request at a time over a connection of one's own, counted in exactly one outcome once it has left."""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import Any

from gevent import GreenletExit, Timeout

from controller.generator.answer import BadAnswerError
from controller.generator.client import Reply
from controller.generator.failures import outcome_of
from controller.generator.ledger import DEGRADED, GENERATOR_ERROR, OK, Account
from controller.generator.work import Work


class Sent(Enum):
    """What became of the wish to send."""

    ENDED = auto()  # it left and was counted
    REFUSED = auto()  # counted, too, but it could not leave: whoever comes back at once only burns CPU
    HELD = auto()  # the right to send ran out before it left: nothing was counted


class Sender:
    """A user's, or an open loop's slot's, way to the target."""

    __slots__ = ("_work", "connection")

    def __init__(self, work: Work) -> None:
        """Nothing is connected yet."""
        self._work = work
        self.connection = work.client()

    def send(self, intended: Account | None = None, due: float | None = None, request: Any = None) -> Sent:
        """One request, else the pool's next, on the account `intended`, else on that of the order in effect.

        Its time runs from the moment at which we want to send, so that a connection that has to be made counts in it,
        until the answer's end has reached this machine, where the kernel stamps it, else until it has been read.
        A connection that could not be made is a request, too. In an open loop it was `due` (`time.perf_counter`).
        """
        work, connection = self._work, self.connection
        account, on = None, intended or work.ledger.current
        request = next(work.requests) if request is None else request
        began = time.perf_counter()
        late = None if due is None else max(round((began - due) * 1e6), 0)
        try:
            connection.open(began)
            if not work.gate.is_open():  # it ran out while connecting: nothing has left
                return Sent.HELD
            account = self._begin(intended, late)
            reply = self._insist(request, began) if work.retries else connection.exchange(request)
            took = time.perf_counter() - began
            us = round((took - connection.unread if 0.0 < connection.unread < took else took) * 1e6)
            outcome = work.check.outcome(request, reply)
        except BaseException as error:
            us = round((time.perf_counter() - began) * 1e6)
            connection.close()
            if isinstance(error, Exception | Timeout):
                return self._failed(account, on, error, us, late)
            if account is not None:  # the user is ended in mid-request; what had left is given up and counted
                work.ledger.end(account, GENERATOR_ERROR, us, late)
                work.ledger.aborted += isinstance(error, GreenletExit)
            raise
        else:
            work.ledger.end(account, outcome, us, late)
            return Sent.ENDED

    def _insist(self, request: Any, began: float) -> Reply:
        """Try again what failed, inside the same timeout, and count each further attempt."""
        work, connection = self._work, self.connection
        for _ in range(work.retries):
            try:
                reply = connection.exchange(request)
                if work.check.outcome(request, reply) in (OK, DEGRADED):
                    return reply
            except TimeoutError:
                raise
            except (OSError, BadAnswerError):
                connection.close()
            work.reasons.retried()
            connection.open(began)
        return connection.exchange(request)

    def _begin(self, on: Account | None, late: int | None) -> Account:
        account = self._work.ledger.begin(on)
        if late is not None:
            account.lateness.add(late)
        return account

    def _failed(self, begun: Account | None, on: Account, error: BaseException, us: int, late: int | None) -> Sent:
        work, outcome = self._work, outcome_of(error)
        work.ledger.end(begun or self._begin(on, late), outcome, us, late)
        work.reasons.note(outcome, error)
        unsent = begun is None or outcome == GENERATOR_ERROR or getattr(error, "unsent", False)
        return Sent.REFUSED if unsent else Sent.ENDED
