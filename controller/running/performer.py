"""Does what the lifecycle decided: each action is one call to a port; the journal is written first."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import assert_never

from controller.generator_spec import GeneratorSpec
from controller.orders import Drain, Lease, Quit
from controller.plans.plan import Plan, Replay
from controller.ports import Annotator, Discovery, Generator, RunFolder
from controller.running import annotation
from controller.running.chronicle import Chronicle
from controller.running.happenings import (
    Action,
    CloseSlot,
    DrainGenerator,
    ExtendSlot,
    Give,
    KillGenerator,
    LookForScrape,
    LookForWithdrawal,
    MarkTrouble,
    Note,
    OpenSlot,
    OpenWindow,
    Publish,
    QuitGenerator,
    Renew,
    StartGenerator,
    Withdraw,
)
from controller.running.scrape_watch import JOB, ScrapeWatch

UNJOURNALED = Renew | LookForScrape | LookForWithdrawal | MarkTrouble
"""Actions once a second that say nothing new, and marks, which the outbox keeps: each line of the journal costs an
fsync, and marks come just when the machine is busy."""


@dataclass(frozen=True, slots=True)
class RunPorts:
    """The world of one run."""

    generator: Generator
    annotator: Annotator
    discovery: Discovery
    folder: RunFolder
    watch: ScrapeWatch | None  # None: no Prometheus is configured
    generator_listen: str = "127.0.0.1"
    generator_address: str | None = None  # by which Prometheus reaches the generator, if not where it listens


@dataclass(slots=True)
class Performer:
    """Performs actions for one run; raises `EdgeError` when the generator cannot be reached."""

    plan: Plan
    run_id: str
    ports: RunPorts
    chronicle: Chronicle
    horizon: timedelta  # how far an open slot's annotation reaches beyond its last extension

    def perform(self, action: Action) -> None:
        """Journal the action, then do it."""
        if not isinstance(action, UNJOURNALED):
            self.ports.folder.journal({"action": type(action).__name__, **asdict(action)})
        match action:
            case StartGenerator():
                self._start()
            case Give(order=order):
                self.ports.generator.send(order)
            case Renew(at=at):
                self.ports.generator.send(Lease(at.wall.timestamp()))
            case DrainGenerator(timeout=timeout):
                self.ports.generator.send(Drain(timeout))
            case QuitGenerator():
                self.ports.generator.send(Quit())
            case KillGenerator():
                self.ports.generator.kill()
            case Publish(address=address):
                host, _, port = address.rpartition(":")
                self.ports.discovery.publish(JOB, f"{self.ports.generator_address or host}:{port}", {})
            case Withdraw():
                self.ports.discovery.withdraw(JOB)
            case LookForScrape(total=total):
                if self.ports.watch:
                    self.ports.watch.look_for_scrape(total)
            case LookForWithdrawal():
                if self.ports.watch:
                    self.ports.watch.look_for_withdrawal()
            case Note(text=text):
                self.chronicle.note(text)
            case MarkTrouble(mark=mark):
                end = mark.end if mark.closed else mark.end + self.horizon.total_seconds()
                self.ports.annotator.put(annotation.trouble(self.run_id, self.plan.name, mark, end))
            case OpenSlot() | OpenWindow() | ExtendSlot() | CloseSlot():
                self._track(action)
            case _:
                assert_never(action)

    def _start(self) -> None:
        plan, listen = self.plan, self.ports.generator_listen
        spec = GeneratorSpec(
            self.run_id,
            plan.name,
            plan.target,
            plan.workload,
            plan.workers,
            listen,
            plan.remote_workers or 0,
            replays=any(isinstance(stage, Replay) for stage in plan.stages),
            limits=plan.generator_limits,
        )
        self.ports.generator.start(spec)

    def _track(self, action: OpenSlot | OpenWindow | ExtendSlot | CloseSlot) -> None:
        """Keep the chronicle and the annotation of a slot."""
        match action:
            case OpenSlot(seq=seq, at=at):
                self.chronicle.open(seq, at)
                self._annotate(seq, at + self.horizon.total_seconds(), closed=False)
            case OpenWindow(seq=seq, at=at):
                self.chronicle.open_window(seq, at)
            case ExtendSlot(seq=seq, at=moment):
                self._annotate(seq, moment.wall.timestamp() + self.horizon.total_seconds(), closed=False)
            case CloseSlot(seq=seq, at=at):
                self.chronicle.close(seq, at)
                self._annotate(seq, at, closed=True)

    def _annotate(self, seq: int, end: float, *, closed: bool) -> None:
        slot = self.chronicle.slots[seq]
        start, until = (datetime.fromtimestamp(at, UTC) for at in (slot.start, end))
        planned = self.chronicle.planned(seq)
        region = annotation.region(self.run_id, self.plan.name, planned, start, until, closed=closed)
        self.ports.annotator.put(region)
