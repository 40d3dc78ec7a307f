"""One worker process: prepares its requests, obeys the master, counts what it sends and reports it every second."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import asdict, replace
from typing import Any, Protocol

import gevent
from gevent.event import AsyncResult
from locust.env import Environment
from locust.exception import RPCError

from controller.generator import process, pulse, wire
from controller.generator.crowd import Crowd
from controller.generator.dispatcher import Dispatcher
from controller.generator.heart import Heart
from controller.generator.http_request import SpecError
from controller.generator.lease import Gate
from controller.generator.ledger import RawArrivals, RawCell
from controller.generator.loads import Counted, Loads, Senders
from controller.generator.loops import Loops
from controller.generator.preparing import prepare
from controller.generator.user import ClosedLoopUser
from controller.generator_spec import GeneratorSpec
from controller.plans.generator import Limits
from controller.plans.payloads import PayloadError
from exporters.loadgen_limits import in_force
from exporters.names.loadgen import OUTCOMES

REPORT_PERIOD = 1.0
"""Reports leave when the wall clock's second changes, so that those of all workers describe the same second."""

WATCH_PERIOD = 0.25
"""How often the worker looks whether it has been left alone, seconds."""

log = logging.getLogger(__name__)


class Books(Counted, Protocol):
    """What every kind of load has: the counts, and the right to send."""

    @property
    def gate(self) -> Gate:
        """Passed right before something is sent."""
        ...


class Crew(Senders, Protocol):
    """Those who send, and obey."""

    def obey(self, share: wire.Share) -> None:
        """Become as many as ordered; does not wait for anything."""
        ...

    def drain(self, timeout: float) -> None:
        """Start nothing more; whoever is still busy after `timeout` seconds is cut."""
        ...


class Worker:
    """A joined worker; everything below runs in greenlets of one thread, so nothing needs a lock."""

    def __init__(
        self, name: str, runner: Any, work: Books, crowd: Crew, limits: Limits = (), *, far: bool = False
    ) -> None:
        """Listen to the master and say that this worker is ready; `limits` are the plan's, `far`: the master has
        another clock."""
        self._far = far
        if far:
            work.gate.mistrust_clock()
        self.name = name
        self._runner = runner
        self._work = work
        self._crowd = crowd
        self._loads = Loads(work, crowd)
        self._heart = Heart(name, work.gate, self._send)
        self._pulse = pulse.begin(in_force(limits))
        self._sequence = 0
        self._unsent: tuple[list[RawCell], list[RawCell], list[RawArrivals]] = ([], [], [])
        self._ended = AsyncResult()
        runner.register_message(wire.ORDER, self._on_order)
        runner.register_message(wire.LEASE, self._on_lease)
        runner.register_message(wire.DRAIN, self._on_drain, concurrent=True)
        runner.register_message(wire.QUIT, self._on_quit)

    def run(self) -> int:
        """Work until told to quit or left alone; the exit code."""
        gevent.spawn(self._heart.run)
        gevent.spawn(self._report_every_second)
        gevent.spawn(self._watch)
        return int(self._ended.get())

    def _on_order(self, msg: Any, **_: Any) -> None:
        """Attribution and users change in one go: the loop runs nothing else until both are done."""
        share = wire.unpacked_share(msg.data)
        if self._far:
            share = replace(share, at=time.time() - share.age, divided=time.time() if share.divided else 0.0)
        self._work.ledger.switch(share.slot, measured=share.measured)
        self._crowd.obey(share)
        self._heart.hears(share.answer)
        self._send(wire.SWITCHED, asdict(wire.Switched(self.name, share.number, time.time())))

    def _on_lease(self, msg: Any, **_: Any) -> None:
        self._work.gate.grant(msg.data["at"])

    def _on_drain(self, msg: Any, **_: Any) -> None:
        self._work.gate.shut()
        users = self._crowd.running
        self._crowd.drain(msg.data["timeout"])
        self.report(users)  # it speaks of the time before: the second that ended just now had them
        ledger = self._work.ledger
        totals, told = dict(zip(OUTCOMES, ledger.totals, strict=True)), self._work.reasons.told()
        self._send(wire.DRAINED, asdict(wire.WorkerDrained(self.name, totals, ledger.started, ledger.aborted, told)))
        self._work.reasons.log_totals()

    def _on_quit(self, **_: Any) -> None:
        self._ended.set(0)

    def _report_every_second(self) -> None:
        while True:
            gevent.sleep(REPORT_PERIOD - time.time() % REPORT_PERIOD)
            self.report()

    def report(self, users: int | None = None) -> None:
        """Tell the master everything since the last report; with so many users, if they are others than those now."""
        ledger, (cells, intended, arrivals) = self._work.ledger, self._unsent
        cells, intended = cells + ledger.take(), intended + ledger.take_intended()
        arrivals = arrivals + ledger.take_arrivals()
        self._sequence += 1
        load = self._loads.take(arrivals)
        running = self._crowd.running if users is None else users
        vitals, counts = self._pulse.take(load), (ledger.started, ledger.ended, running)
        rest = (tuple(intended), tuple(arrivals), self._work.reasons.retries)
        report = wire.WorkerReport(self.name, self._sequence, tuple(cells), *counts, vitals, *rest)
        try:
            self._send(wire.REPORT, report.packed())
            self._unsent = ([], [], [])
        except RPCError:
            log.exception("could not send report %d to the master: its counts go with the next one", self._sequence)
            self._sequence -= 1
            self._unsent = (cells, intended, arrivals)

    def _watch(self) -> None:
        while not self._work.gate.must_exit():
            gevent.sleep(WATCH_PERIOD)
        log.error("no lease from the controller: this worker ends itself")
        self._ended.set(1)

    def _send(self, kind: str, body: dict[str, Any]) -> None:
        self._runner.send_message(kind, body)


def run(spec: GeneratorSpec, part: int, host: str, port: int, name: str = "", *, far: bool = False) -> int:
    """Be worker `part` of the master at `host`:`port` until the end; the exit code."""
    name = name or f"worker-{part}"
    try:
        work = prepare(spec, part)
        fault = None
    except (SpecError, PayloadError) as error:
        fault = str(error)
    runner = Environment(user_classes=[ClosedLoopUser]).create_worker_runner(host, port)
    if fault is not None:
        runner.send_message(wire.UNFIT, {"what": fault})
        gevent.sleep(0.5)
        return 1
    process.settle()
    ClosedLoopUser.work = work
    crew = Loops(Crowd(runner, ClosedLoopUser), Dispatcher(work))
    worker = Worker(name, runner, work, crew, spec.limits, far=far)
    runner.send_message(wire.JOINED, asdict(wire.Joined(name, os.getpid())))
    return worker.run()
