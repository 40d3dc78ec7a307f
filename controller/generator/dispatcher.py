"""The open loop of one worker: sends each arrival when it is due, whether or not earlier ones were answered.

Senders are slots: an arrival that finds none free, or no right to send, is dropped and counted, never delayed. What a
busy process sends late is sent all the same; how late is recorded with each request.
"""

from __future__ import annotations

import math
import time

import gevent
from gevent import Greenlet

from controller.generator.alarm import Alarm
from controller.generator.arrival_clock import ArrivalClock
from controller.generator.ledger import Account
from controller.generator.replay_clock import ReplayClock
from controller.generator.sender import Sender, Sent
from controller.generator.wire import Share
from controller.generator.work import Work
from exporters.names.loadgen import NO_LEASE, NO_SLOT

STALE_SECONDS = 0.1
"""A share that reaches its worker later than this takes effect when it arrives: clocks differ, or it was given anew."""

KILL_SECONDS = 1.0
"""How long a request that is cut gets to be written down."""


class Dispatcher:
    """Arrivals of one worker."""

    def __init__(self, work: Work) -> None:
        """No arrivals yet. Raises `OSError` where the system has no exact timer."""
        self._work = work
        self._even = ArrivalClock()
        self._recording = work.recording
        self._replay = ReplayClock(work.recording.times if work.recording else ())
        self._clock: ArrivalClock | ReplayClock = self._even
        self._alarm = Alarm()
        self._account: Account = work.ledger.current
        self._slots = 0
        self._idle: list[Sender] = []
        self._busy: set[Greenlet] = set()
        gevent.spawn(self._run)

    @property
    def in_flight(self) -> int:
        """Slots that are taken."""
        return len(self._busy)

    @property
    def behind(self) -> float:
        """Seconds for which the next arrival has been due and was not dealt with."""
        return max(time.perf_counter() - self._clock.due, 0.0)

    def obey(self, share: Share) -> None:
        """Arrivals as the share says, on the account in effect; what was due before is sent on the old one."""
        now, wall = time.perf_counter(), time.time()
        since = now - (wall - share.at) if share.at <= wall else now
        at = since if now - since <= STALE_SECONDS else now
        self._send_due(at)
        own = share.arrivals.share(share.part, share.parts) if share.arrivals else None
        if own is not None and own.process == "recorded":
            self._even.clear()
            self._replay.change(own, since, share.part, share.parts, share.handover)
            self._clock = self._replay
        else:
            self._replay.clear()
            self._even.change(at, own, since, share.part, share.parts)
            self._clock = self._even
        self._account = self._work.ledger.current
        self._slots = own.max_in_flight if own else 0
        if own is None:
            self._close_idle()
        self._set_alarm()

    def drain(self, timeout: float) -> None:
        """Send nothing more; what is under way after `timeout` seconds is cut."""
        self._clock.clear()
        self._set_alarm()
        gevent.joinall(list(self._busy), timeout=timeout)
        gevent.killall(list(self._busy), timeout=KILL_SECONDS)
        self._close_idle()

    def _run(self) -> None:
        while True:
            self._send_due(time.perf_counter())
            self._set_alarm()
            self._alarm.wait()

    def _set_alarm(self) -> None:
        if math.isinf(self._clock.due):
            self._alarm.clear()
        else:
            self._alarm.set(self._clock.due)

    def _send_due(self, until: float) -> None:
        clock = self._clock
        while clock.due <= until:
            self._send(clock.due)
            clock.take()

    def _send(self, due: float) -> None:
        account = self._account
        account.due += 1
        if not self._work.gate.is_open():
            account.drop(NO_LEASE)
        elif len(self._busy) >= self._slots:
            account.drop(NO_SLOT)
        else:
            sender = self._idle.pop() if self._idle else Sender(self._work)
            replayed = self._recording if self._clock is self._replay else None
            request = replayed.request(self._replay.index) if replayed is not None else None
            self._busy.add(gevent.spawn(self._serve, sender, account, due, request))

    def _serve(self, sender: Sender, account: Account, due: float, request: bytes | None) -> None:
        try:
            if sender.send(account, due, request) is Sent.HELD:
                account.drop(NO_LEASE)
        finally:
            self._busy.discard(gevent.getcurrent())
            self._idle.append(sender)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().connection.end()
