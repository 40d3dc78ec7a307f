"""The open loop of one worker: sends each arrival when it is due, whether or not earlier ones were answered.

An arrival that finds no slot free, or no right to send, is dropped and counted, never delayed. What a
busy process sends late is sent all the same; how late is recorded with each request.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import gevent

from controller.generator.alarm import Alarm
from controller.generator.arrival_clock import ArrivalClock
from controller.generator.ledger import Account
from controller.generator.replay_clock import ReplayClock
from controller.generator.slot import Slot
from controller.generator.wire import Share
from controller.generator.work import Work
from exporters.names.loadgen import NO_LEASE, NO_SLOT

Begin = Callable[[Slot, Account, float, Any], None]

STALE_SECONDS = 0.1
"""A share that reaches its worker later than this takes effect when it arrives: clocks differ, or it was given anew."""

LOOK_SECONDS = 0.005
"""How often a drain looks whether everything was answered."""

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
        self._alarm = Alarm(self._ring)
        self._account: Account = work.ledger.current
        self._slots = 0
        self._idle: list[Slot] = []
        self._busy: set[Slot] = set()

    @property
    def behind(self) -> float:
        """Seconds for which the next arrival has been due and was not dealt with."""
        return max(time.perf_counter() - self._clock.due, 0.0)

    def obey(self, share: Share) -> None:
        """Arrivals as the share says, on the account in effect; what was due before is sent on the old one."""
        now, wall = time.perf_counter(), time.time()
        since = now - (wall - share.at) if share.at <= wall else now
        began = now - (wall - share.divided) if 0.0 < share.divided <= wall else since
        at = began if now - began <= STALE_SECONDS or self._work.gate.slept() else now
        self._send_due(at, Slot.begin_soon)
        own = share.arrivals.share(share.part, share.parts) if share.arrivals else None
        if own is not None and own.process == "recorded":
            self._even.clear()
            self._replay.change(own, since, share.part, share.parts, share.handover)
            self._clock = self._replay
        else:
            self._replay.clear()
            self._even.change(at, own, since, share.part, share.parts, anew=share.divided > 0.0)
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
        self._await_answers(timeout)
        for slot in self._busy:
            slot.end()
        self._await_answers(KILL_SECONDS)
        self._close_idle()

    def _await_answers(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._busy and time.monotonic() < until:
            gevent.sleep(LOOK_SECONDS)

    def _ring(self) -> None:
        """Runs in the hub. Whose arrivals these are after a sleep, the master has to say first."""
        if self._work.gate.slept():
            self._alarm.clear()
            return
        try:
            self._send_due(time.perf_counter(), Slot.begin)
        finally:
            self._set_alarm()

    def _set_alarm(self) -> None:
        if math.isinf(self._clock.due):
            self._alarm.clear()
        else:
            self._alarm.set(self._clock.due)

    def _send_due(self, until: float, begin: Begin) -> None:
        clock, recording = self._clock, self._recording if self._clock is self._replay else None
        while (due := clock.due) <= until:
            request = recording.request(self._replay.index) if recording is not None else None
            clock.take()
            self._send(due, request, begin)

    def _send(self, due: float, request: Any, begin: Begin) -> None:
        account, busy = self._account, self._busy
        account.due += 1
        if not self._work.gate.is_open():
            account.drop(NO_LEASE)
        elif len(busy) >= self._slots:
            account.drop(NO_SLOT)
        else:
            slot = self._idle.pop() if self._idle else Slot(self._work, self._free)
            busy.add(slot)
            begin(slot, account, due, request)

    def _free(self, slot: Slot) -> None:
        self._busy.discard(slot)
        self._idle.append(slot)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()
