"""Which workers are there? Each says so four times a second; who has not for too long is told, and the load is divided
anew at once among the others.

A worker that slept (frozen, starved, cut off) sends nothing until it has asked and was answered: its old share may be
with others by then, and whatever waits in its queue was said to it before it woke up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from controller.generator.book import Book
from controller.generator.division import Division
from controller.generator.door import Door
from controller.generator.members import GONE_SECONDS, Presence
from controller.generator.wire import BEAT, QUIT, WOKEN
from controller.orders import Short

Tell = Callable[[str, str, dict[str, Any]], None]


class Say(Protocol):
    """Tells the controller a sentence, and what the load was short of."""

    def __call__(self, what: str, *, short: Short | None = None) -> None:
        """At once."""
        ...


class Attendance:
    """Of one master."""

    def __init__(self, book: Book, division: Division, door: Door, tell: Tell, say: Say) -> None:
        """`tell` sends to a worker, `say` tells the controller a sentence and what the load was short of."""
        self._book, self._division, self._door = book, division, door
        self._tell, self._say = tell, say

    def register(self, runner: Any) -> None:
        """Hear what workers say about themselves."""
        runner.register_message(BEAT, self._on_beat)
        runner.register_message(WOKEN, self._on_woken)

    def look(self) -> list[str]:
        """Who has just become silent, or has been for so long that it is given up? Load is divided anew. Returns the
        names of all who are not there, of whom nobody need wait for a word."""
        now = time.monotonic()
        fresh = self._book.silences(now)
        for member in fresh:
            self._division.again()
            self._door.lost(member.name)
            short = self._division.short(member)
            self._say(f"{member.name} has not answered for {member.quiet(now):.1f} s: {short.what}", short=short)
        gone = [member for member in self._book.lost(now) if self._door.host_of(member.name) is not None]
        for member in gone:
            lost = self._book.give_up(member.name, now)
            self._tell(member.address, QUIT, {})  # should it only have been cut off; it has ended itself by now
            self._say(f"{member.name} has not answered for {GONE_SECONDS:.0f} s and is given up: {lost}")
        return [member.name for member in self._book.members.values() if member.presence is not Presence.UP]

    def _on_beat(self, msg: Any, **_: Any) -> None:
        self._hears(msg.data["worker"], msg.node_id)

    def _on_woken(self, msg: Any, **_: Any) -> None:
        """It asks what to do; the answer carries the number of its question."""
        name, question = msg.data["worker"], msg.data["question"]
        member = self._book.members.get(name)
        if member is None or member.address != msg.node_id or member.gone:
            return
        new, member.question = question != member.question, question
        if not self._hears(name, msg.node_id) and new:
            self._division.again()

    def _hears(self, name: str, address: str) -> bool:
        """Whether the load was divided anew, because it had been silent."""
        member = self._book.members.get(name)
        if member is None or member.address != address or member.gone:
            return False
        if (back := self._book.hears(member, time.monotonic())) is None:
            return False
        self._say(back)
        self._division.again()
        return True
