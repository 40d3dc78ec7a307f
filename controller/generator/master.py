"""The master process: relays orders and leases to the workers, merges what they report, answers the controller.

Every handler returns at once: Locust's own start of a test would block the loop until its users are there, so orders
travel as messages of ours that carry users and attribution together, and workers answer when both are in effect.
"""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

import gevent
import locust
from gevent.event import AsyncResult

from controller.generator import metrics, wire
from controller.generator.acks import Acks
from controller.generator.attendance import Attendance
from controller.generator.book import Book
from controller.generator.division import Division
from controller.generator.door import Door
from controller.generator.intervals import Intervals
from controller.generator.lease import Lease
from controller.generator.link import Link
from controller.generator.master_pulse import MasterPulse
from controller.generator.team import Team
from controller.generator_spec import GeneratorSpec
from controller.orders import LEASE_SECONDS, Command, Drain, Fault, Hello, Order, Quit, Short
from controller.orders import Lease as LeaseGrant

JOIN_SECONDS = 60.0
"""How long workers may take to start and to encode their requests."""

LOOK_PERIOD = 0.1
"""How often lease and silence are looked at, seconds."""

LAST_WORDS_SECONDS = 3.0
"""After the lease ran out: how long what is in flight may still be counted before everything ends."""

DRAIN_GRACE_SECONDS = 2.0
"""Longer than the drain's own timeout a worker's totals are not waited for."""

UNREAD_SECONDS = 0.2
"""How long a dead worker's last messages may still be on their way."""

QUIT_SECONDS = 2.0
"""How long workers may take to end after they were told to."""

log = logging.getLogger(__name__)


class Master:
    """Runs in greenlets of one thread; whatever a message causes happens before the next message is read."""

    def __init__(self, spec: GeneratorSpec, runner: Any, link: Link, team: Team) -> None:
        """Listen to workers."""
        self._spec, self._runner, self._link, self._team = spec, runner, link, team
        self.book = Book()
        self._acks = Acks()
        self._division = Division(self.book, self._tell)
        self._door = Door(spec, self._tell)
        self._attendance = Attendance(self.book, self._division, self._door, self._tell, self._fault)
        self._attendance.register(runner)
        self._lease = Lease(time.monotonic())  # its end counts from hello on
        self._granted = 0.0  # epoch of the newest lease
        self._ended = AsyncResult()
        self._intervals = Intervals(self.book, link.send, self._fault, MasterPulse(self.book, spec.limits).take)
        self._draining = False
        self._quitting = False
        runner.register_message(wire.JOINED, self._on_joined)
        runner.register_message(wire.KNOCK, self._door.on_knock)
        runner.register_message(wire.UNFIT, self._on_unfit)
        runner.register_message(wire.SWITCHED, self._on_switched)
        runner.register_message(wire.REPORT, self._on_report)
        runner.register_message(wire.DRAINED, self._on_drained)
        runner.register_message(wire.TROUBLE, self._on_trouble)

    def run(self, spec_file: Path) -> int:
        """Until the controller says quit, ends, or lets the lease run out; the exit code. Workers are gone then."""
        host, port = self._spec.bind[0], self._runner.server.port
        near = "127.0.0.1" if host in ("0.0.0.0", "*") else host  # noqa: S104 - what a user may have set
        self._team.start(spec_file, self._spec.workers - self._spec.remote, near, port, self._on_worker_end)
        for task in (self._listen, self._intervals.run, self._await_workers):
            gevent.spawn(task)
        code = int(self._ended.get())
        self._quitting = True
        self._team.end(QUIT_SECONDS if code == 0 else 0.0)
        self._link.flush(1.0)
        return code

    def _listen(self) -> None:
        try:
            for command in self._link.commands():
                self._obey(command)
            log.error("the controller is gone: ending at once")
        except ValueError:
            log.exception("the controller sent something that is not a command: ending at once")
        self._ended.set(1)

    def _obey(self, command: Command) -> None:
        match command:
            case LeaseGrant():
                self._grant(command.at)
            case Order() if self._draining or not self._intervals.begun:
                self._fault(f"order {command.number} was not obeyed: it came before hello or after drain")
            case Order():
                self._relay(command)
            case Drain() if not self._draining:
                self._draining = True
                gevent.spawn(self._drain, command.timeout)
            case Quit():
                self._tell_all(wire.QUIT, {})
                self._ended.set(0)

    def _grant(self, at: float) -> None:
        self._granted = at
        if self._intervals.begun:
            self._lease.grant(self._granted, time.time(), time.monotonic())
            self._tell_all(wire.LEASE, {"at": self._granted})

    def _relay(self, order: Order) -> None:
        if order.slot != self.book.order.slot:
            log.info("order %d: slot %d, %s, %s", order.number, order.slot, order.stage, order.phase)
        share = wire.Share(
            order.number, order.slot, order.measured, order.users, arrivals=order.arrivals, at=time.time()
        )
        self._acks.expect(order.number, [member.name for member in self.book.able])
        self._division.give(share)

    def _drain(self, timeout: float) -> None:
        self._tell_all(wire.DRAIN, {"timeout": timeout})
        deadline = time.monotonic() + timeout + DRAIN_GRACE_SECONDS
        while time.monotonic() < deadline and any(member.drained is None for member in self.book.present):
            gevent.sleep(0.01)
        for member in self.book.present:
            if member.drained is None:
                self._team.kill(member.name)
                self._fault(self.book.give_up(member.name, time.monotonic()))
        self._intervals.conclude()
        self._link.send(self.book.conclusion(time.time()))

    def _on_joined(self, msg: Any, **_: Any) -> None:
        joined = wire.Joined(**msg.data)
        known = self._team.owns(joined.worker, joined.pid) or self._door.expects(joined.worker)
        if not known or joined.worker in self.book.members or self._draining:
            log.warning("a process that is not one of this master's workers (pid %d) is sent away", joined.pid)
            self._tell(msg.node_id, wire.QUIT, {})
            return
        self.book.join(joined.worker, msg.node_id, time.monotonic())
        if self._intervals.begun:
            self._tell(msg.node_id, wire.LEASE, {"at": self._granted})
            self._division.again()
            self._fault(f"{joined.worker} joined late; the load is divided anew")
        elif len(self.book.members) == self._spec.workers:
            self._say_hello()

    def _say_hello(self) -> None:
        collector = metrics.BookCollector(self._spec, self.book, locust.__version__)
        now = time.time()
        self._intervals.begin(now)
        self._lease = Lease(time.monotonic())
        if self._granted > now - LEASE_SECONDS:  # came while the workers were starting
            self._grant(self._granted)
        self._link.send(
            Hello(os.getpid(), metrics.serve(collector, self._spec.listen), self._spec.workers, locust.__version__)
        )
        gevent.spawn(self._look)

    def _on_unfit(self, msg: Any, **_: Any) -> None:
        self._give_up(msg.data["what"])

    def _on_switched(self, msg: Any, **_: Any) -> None:
        switched = wire.Switched(**msg.data)
        at = switched.at if self._door.host_of(switched.worker) is None else time.time()  # its clock is another
        for ack in self._acks.switched(switched.worker, switched.number, at):
            self._link.send(ack)

    def _on_report(self, msg: Any, **_: Any) -> None:
        report = wire.unpacked_report(msg.data)
        member = self.book.members.get(report.worker)
        if member is None or member.address != msg.node_id:  # sent away, or about to be
            return
        was = member.presence
        for fault in self.book.report(report, time.monotonic()):
            self._fault(fault)
        if member.presence is not was:
            self._division.again()

    def _on_drained(self, msg: Any, **_: Any) -> None:
        for fault in self.book.drained(wire.WorkerDrained(**msg.data)):
            self._fault(fault)

    def _on_trouble(self, msg: Any, **_: Any) -> None:
        trouble = wire.Trouble(**msg.data)
        member = self.book.members.get(trouble.worker)
        if member is not None and member.address == msg.node_id:
            self._fault(f"{trouble.worker}: {trouble.what}")

    def _on_worker_end(self, name: str, how: str) -> None:
        gevent.sleep(UNREAD_SECONDS)
        member = self.book.members.get(name)
        if self._quitting or (member is not None and member.gone):
            return
        if member is None:
            self._give_up(f"could not start {name}: it {how}")
            return
        lost = self.book.give_up(name, time.monotonic())
        self._division.again()
        short = self._division.short(member)
        what = f"{name} {how}: {lost}; {short.what}"
        alone = not self.book.present
        self._fault(f"{what}; no worker is left" if alone else what, fatal=alone, short=short)
        for ack in self._acks.without(name):
            self._link.send(ack)

    def _await_workers(self) -> None:
        gevent.sleep(JOIN_SECONDS)
        if not self._intervals.begun:
            joined = len(self.book.members)
            far = f", {self._spec.remote} of them from other hosts (`stagelight worker`)" if self._spec.remote else ""
            self._give_up(f"only {joined} of {self._spec.workers} workers{far} were ready within {JOIN_SECONDS:.0f} s")

    def _look(self) -> None:
        while not self._lease.ran_out(time.monotonic()) and not self._lease.must_exit(time.monotonic()):
            gevent.sleep(LOOK_PERIOD)
            for ack in self._acks.without(*self._attendance.look()):
                self._link.send(ack)
        self._fault("the controller did not renew the lease: load has stopped, the generator ends", fatal=True)
        gevent.sleep(LAST_WORDS_SECONDS)
        self._ended.set(1)

    def _give_up(self, what: str) -> None:
        self._fault(what, fatal=True)
        self._ended.set(1)

    def _fault(self, what: str, *, fatal: bool = False, short: Short | None = None) -> None:
        log.error("%s", what)
        self._link.send(Fault(what, fatal, short))

    def _tell_all(self, kind: str, body: dict[str, Any]) -> None:
        for member in self.book.present:
            self._tell(member.address, kind, body)

    def _tell(self, address: str, kind: str, body: dict[str, Any]) -> None:
        self._runner.send_message(kind, body, client_id=address)
