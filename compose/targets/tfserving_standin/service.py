"""Brings every request to its answer: the script's refusals, the gate, the moment of the answer, the books."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from . import families as page_of
from .alarms import Alarms
from .behaviour import Behaviour
from .call import Call, Wire
from .codes import HTTP_STATUS, NAMES, Code, Failure
from .gate import Gate
from .ledger import Ledger
from .metric_page import MetricPage
from .script import Script

JSON = b"application/json"
GATE_FULL = "no place in the queue of the stand-in's scripted capacity"
SCRIPTED = "an error by the stand-in's script"
ENTRYPOINTS = {Wire.REST: "REST", Wire.GRPC: "GRPC"}

Work = Callable[[Call], None]
Refuse = Callable[[Call, Failure, float], None]


class Service:
    """The common way of both protocols. `work` decodes and runs an inference, `refuse` answers it with a failure."""

    def __init__(self, page: MetricPage, ledger: Ledger, alarms: Alarms, behaviour: Behaviour) -> None:
        """All parts are the caller's."""
        self._page = page
        self._ledger = ledger
        self._alarms = alarms
        self._behaviour = behaviour
        self._gate: Gate[tuple[Call, Work]] = Gate(behaviour.script.capacity)
        self._gate_alarm = 0.0
        self._admitting = False

    def run_script(self, script: Script, now: float) -> None:
        """Start another script now; whoever waits meets its capacity."""
        self._behaviour.replace(script, now)
        self._gate.change(script.capacity)
        self._admit()

    def infer(self, call: Call, work: Work, refuse: Refuse) -> None:
        """Take an inference request: `work` begins when the gate lets it, `refuse` answers it if it never does."""
        now = call.arrival
        if self._behaviour.script.errors and (burst := self._behaviour.refusal(now)) is not None:
            if burst.drop:
                self._alarms.at(now + burst.after, partial(self._drop, call))
            else:
                refuse(call, Failure(burst.code, SCRIPTED), now + burst.after)
            return
        if self._gate.open:
            work(call)
        elif self._gate.offer((call, work), now):
            self._admit()
        else:
            refuse(call, Failure(Code.UNAVAILABLE, GATE_FULL), now)

    def settle(self, call: Call, code: Code, body: bytes, due: float = 0.0, content_type: bytes = JSON) -> None:
        """Answer at `due` (seconds of the monotonic clock), or later if the script holds answers then."""
        now = time.monotonic()
        due = self._behaviour.released(max(due, now))
        if due > now:
            self._alarms.at(due, partial(self._answer, call, code, body, content_type))
        else:
            self._answer(call, code, body, content_type)

    def _answer(self, call: Call, code: Code, body: bytes, content_type: bytes) -> None:
        now = time.monotonic()
        if call.counted:
            self._count(call, code, now)
        status = HTTP_STATUS[code] if call.wire is Wire.REST else int(code)
        delivered = call.reply(status, body, content_type)
        self._ledger.answered(call, status, code, now, delivered=delivered)
        if call.admitted:
            self._gate.leave()
            self._admit()

    def _drop(self, call: Call) -> None:
        call.reply.drop()
        self._ledger.answered(call, 0, Code.UNAVAILABLE, time.monotonic(), delivered=False)

    def _count(self, call: Call, code: Code, now: float) -> None:
        page = self._page
        page.count(page_of.REQUEST_COUNT, (call.model, NAMES[code]))
        if code is not Code.OK:
            return
        if call.runtime_api:
            micros = int((now - call.session) * 1e6)
            page.observe(page_of.RUNTIME_LATENCY, micros, (call.model, call.runtime_api, "TF1"))
        micros = int((now - call.start) * 1e6)
        page.observe(page_of.REQUEST_LATENCY, micros, (call.model, call.api, ENTRYPOINTS[call.wire]))

    def _admit(self) -> None:
        if self._admitting:
            return  # an answer given at once leaves the gate inside the loop below, which goes on anyway
        self._admitting = True
        now = time.monotonic()
        while (entry := self._gate.admit(now)) is not None:
            call, work = entry
            call.start = now
            call.admitted = True
            work(call)
            now = time.monotonic()
        self._admitting = False
        opens = self._gate.opens_at(now)
        if opens is not None and opens != self._gate_alarm:
            self._gate_alarm = opens
            self._alarms.at(opens, self._admit)
