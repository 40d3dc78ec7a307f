"""Who takes which part of the load now: an order is divided among the workers that answer, and again when they change.

Load that a lost or silent worker should have carried is missing from its last report on until the order is divided
again. Between those two moments the run is short of it, and the sentences made here say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from controller.generator import wire
from controller.generator.book import Book, shares
from controller.generator.members import Member, Presence

HANDOVER_SECONDS = 0.05
"""How far ahead the workers pass to a new division of a replay: until then the message has reached all of them."""

Tell = Callable[[str, str, dict[str, Any]], None]


class Division:
    """Of one master's orders."""

    def __init__(self, book: Book, tell: Tell) -> None:
        """`tell` sends to an address on Locust's channel a kind of message and its content."""
        self._book, self._tell = book, tell

    def give(self, order: wire.Share) -> None:
        """Put an order into effect; one that goes on with a replay does so exactly where it is."""
        before = self._book.order
        if before.arrivals and order.arrivals and before.arrivals.is_continued_by(order.at - before.at, order.arrivals):
            since = before.arrivals.position(order.at - before.at)
            order = replace(order, arrivals=replace(order.arrivals, since=since), handover=HANDOVER_SECONDS)
        self._book.order = order
        self._divide(order.handover)

    def again(self) -> None:
        """The workers have changed: the order in effect is divided anew, at once."""
        if self._book.order.number > 0:
            self._divide(time.time() - self._book.order.at + HANDOVER_SECONDS)

    def missing(self, member: Member) -> str:
        """What the load was short of because of this worker, and from when to when; said when it has been divided."""
        if self._book.order.number == 0:
            return "no load had begun"
        now = time.time()
        since = now - member.age(time.monotonic())
        others = any(one is not member for one in self._book.able)
        after = "divided among the others" if others else "taken by nobody: no other worker answers"
        return f"its share of the load may be missing from {_clock(since)} to {_clock(now)}, when it was {after}"

    def _divide(self, handover: float) -> None:
        order = replace(self._book.order, age=time.time() - self._book.order.at, handover=handover)
        for member, share in shares(order, self._book.able):
            self._tell(member.address, wire.ORDER, asdict(share))
        for member in self._book.present:
            if member.presence is Presence.SILENT:  # should it wake up, then without a share
                idle = wire.Share(self._book.order.number, self._book.order.slot, self._book.order.measured, 0)
                self._tell(member.address, wire.ORDER, asdict(idle))


def _clock(epoch: float) -> str:
    return f"{datetime.fromtimestamp(epoch, UTC):%H:%M:%S.%f}"[:-5] + " UTC"
