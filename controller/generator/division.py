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
from controller.orders import Short

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
            now = time.time()
            self._divide(now - self._book.order.at + HANDOVER_SECONDS, now)

    def short(self, member: Member) -> Short:
        """What the load was short of because of this worker, and from when to when; said when it has been divided."""
        now, order = time.time(), self._book.order
        since = now - member.quiet(time.monotonic())
        if order.number == 0:
            return Short(member.name, since, now, 0.0, "no load had begun")
        others = any(one is not member for one in self._book.able)
        after = "divided among the others" if others else "taken by nobody: no other worker answers"
        much = f"its share of the load ({_asked(order)} by {member.parts})"
        what = f"{much} may be missing from {_clock(since)} to {_clock(now)}, when it was {after}"
        return Short(member.name, since, now, 1 / member.parts, what)

    def _divide(self, handover: float, divided: float = 0.0) -> None:
        age = time.time() - self._book.order.at
        order = replace(self._book.order, age=age, divided=divided, handover=handover)
        for member, share in shares(order, self._book.able):
            self._give(member, share)
        for member in self._book.present:
            if member.presence is Presence.SILENT:  # should it wake up, then without a share
                idle = wire.Share(order.number, order.slot, order.measured, 0, divided=divided)
                self._tell(member.address, wire.ORDER, asdict(idle))

    def _give(self, member: Member, share: wire.Share) -> None:
        member.parts = share.parts
        self._tell(member.address, wire.ORDER, asdict(replace(share, answer=member.question)))


def _asked(order: wire.Share) -> str:
    if order.arrivals is None:
        return f"{order.users} users divided"
    return f"{order.arrivals.rate(time.time() - order.at):g} arrivals a second divided"


def _clock(epoch: float) -> str:
    return f"{datetime.fromtimestamp(epoch, UTC):%H:%M:%S.%f}"[:-5] + " UTC"
