"""One place in an open loop: a sender with a greenlet of its own, which outlives its requests.

To make a greenlet for each arrival costs more than the request: the interpreter maps memory for its frames and gives it
back, two system calls, beside all that an object of its own needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from gevent import GreenletExit, get_hub
from greenlet import greenlet  # type: ignore[import-untyped]

from controller.generator.ledger import Account
from controller.generator.sender import Sender, Sent
from controller.generator.work import Work
from exporters.names.loadgen import NO_LEASE


class Slot:
    """Sends one arrival at a time; `free` is called with it when the request has ended."""

    __slots__ = ("_free", "_greenlet", "_hub", "_sender")

    def __init__(self, work: Work, free: Callable[[Slot], None]) -> None:
        """Nothing is connected yet."""
        self._hub: Any = get_hub()
        self._free = free
        self._sender = Sender(work)
        self._greenlet = greenlet(self._run, self._hub)

    def begin(self, account: Account, due: float, request: Any) -> None:
        """Send an arrival that was `due`; only in the hub, which goes on when the request waits for the first time."""
        self._greenlet.switch(account, due, request)

    def begin_soon(self, account: Account, due: float, request: Any) -> None:
        """The same from any greenlet: the hub begins it in its next turn."""
        self._hub.loop.run_callback(self._greenlet.switch, account, due, request)

    def end(self) -> None:
        """Give up the request under way, which is counted, and the greenlet; the slot cannot be used again."""
        self._hub.loop.run_callback(self._throw)

    def close(self) -> None:
        """The same of a slot without a request, with its connection."""
        self._sender.connection.end()
        self.end()

    def _throw(self) -> None:
        if not self._greenlet.dead:
            self._greenlet.throw(GreenletExit)

    def _run(self, account: Account, due: float, request: Any) -> None:
        while True:
            try:
                if self._sender.send(account, due, request) is Sent.HELD:
                    account.drop(NO_LEASE)
            except GreenletExit:
                return
            except BaseException:  # noqa: BLE001 - the hub must never end by what one request raised
                self._hub.handle_error(self, *sys.exc_info())
            finally:
                self._free(self)
            account, due, request = self._hub.switch()
