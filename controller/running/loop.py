"""The loop of one run: gather events, advance the lifecycle, perform its actions, until it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from controller.figures.canary import doubtful, saturation
from controller.figures.disturbance import Hot
from controller.figures.latency import LatencyLedger
from controller.figures.stop_rules import held_rule
from controller.orders import Drained, Interval, WorkerHealth
from controller.plans.plan import Plan
from controller.plans.timetable import Timetable, boundaries, load_at
from controller.ports import Canary, Clock, EdgeError, Finding, TargetProbe
from controller.running.board import Board
from controller.running.chronicle import Chronicle
from controller.running.happenings import (
    Broken,
    Event,
    GeneratorGone,
    Instant,
    Interrupted,
    KillGenerator,
    MarkTrouble,
    PreflightPassed,
    PreflightRefused,
    Reported,
    RuleHeld,
    Scraped,
    Tick,
    Withdrawn,
)
from controller.running.lifecycle import advance
from controller.running.performer import Performer
from controller.running.scrape_age import ScrapeAge
from controller.running.states import Ended, Leaving, Limits, Loading, Preparing, State
from controller.running.watching import UNSCRAPED, Mark, Watched, finish, unscraped, watch
from exporters.loadgen_limits import in_force
from exporters.names.loadgen import CONTROLLER, PLACES

LOOK_BACK = 100
"""Newest seconds and probes that the canary's reading is made of at most."""

PERIOD = 0.05
"""Longest sleep of the loop, seconds: the bound on how late an order can leave."""


@dataclass(slots=True)
class StopRequest:
    """Set by a signal handler or by the daemon; read once each turn of the loop. A second request means: at once."""

    by: str | None = None

    def ask(self, by: str) -> None:
        """Ask the run to stop, on behalf of `by`."""
        self.by = by

    def take(self) -> str | None:
        """Who asked since the last call, if anybody."""
        by, self.by = self.by, None
        return by


@dataclass(slots=True)
class RunLoop:
    """Drives one run to its end and leaves ledger, chronicle and totals behind for the record."""

    plan: Plan
    timetable: Timetable
    limits: Limits
    performer: Performer
    probe: TargetProbe
    clock: Clock
    board: Board
    stop: StopRequest
    ledger: LatencyLedger
    chronicle: Chronicle
    turn: Callable[[], None] = lambda: None  # called once a turn, for the display
    canary: Canary | None = None
    scrapes: ScrapeAge | None = None  # None: no Prometheus is configured
    watched: Watched = field(default_factory=Watched)
    state: State = field(default_factory=Preparing)
    reported: float = 0.0  # monotonic seconds of the newest interval
    drained: Drained | None = None
    findings: tuple[Finding, ...] = ()
    identity: Mapping[str, Any] = field(default_factory=dict)  # what the target said of itself before load

    def run(self) -> Ended:
        """Block until the run has ended; never leaves a generator behind."""
        try:
            self._apply(self._preflight())
            while not isinstance(self.state, Ended):
                for event in self._events():
                    self._apply(event)
                self._show()
                self._sleep()
        finally:
            self.performer.ports.generator.kill()
            if self.canary is not None:
                self.canary.stop()
            if self.scrapes is not None:
                self.scrapes.close()
        return self.state

    def _preflight(self) -> Event:
        self.findings = tuple(self.probe.preflight(self.plan))
        self.identity = self.probe.identity(self.plan)
        bad = [finding.sentence for finding in self.findings if not finding.fit]
        if by := self.stop.take():
            return Interrupted(self._now(), by)
        return PreflightRefused(self._now(), " ".join(bad)) if bad else PreflightPassed(self._now())

    def _events(self) -> Iterator[Event]:
        if by := self.stop.take():
            yield Interrupted(self._now(), by)
        generator, watch = self.performer.ports.generator, self.performer.ports.watch
        alive = generator.alive()  # asked first, so that a last report is read before its sender is called gone
        for report in generator.reports():
            if isinstance(report, Interval):
                self.reported = self.clock.monotonic()
                told = self._with_canary(report)
                self.ledger.add(told)
                self.board.update(interval=told)
                self._watch(told)
                self._ask_again()
            elif isinstance(report, Drained):
                self.drained = report
            yield Reported(self._now(), report)
        if not alive and not isinstance(self.state, Preparing | Ended):
            yield GeneratorGone(self._now(), "no process of it is left")
        match watch.answer() if watch else None:
            case "scraped":
                yield Scraped(self._now())
            case "withdrawn":
                yield Withdrawn(self._now())
        if isinstance(self.state, Loading) and (rule := held_rule(self.plan.stop_when, self.ledger)):
            yield RuleHeld(self._now(), rule.text)
        yield Tick(self._now())

    def _with_canary(self, interval: Interval) -> Interval:
        """The interval with the canary's reading as one more: it speaks of the seconds before."""
        if self.canary is None:
            return interval
        self.ledger.probes.extend(probes := self.canary.probes())
        self.board.update(canary=self.canary.counts(), **({"probe": probes[-1]} if probes else {}))
        value = saturation(self.ledger.probes[-LOOK_BACK:], self.ledger.seconds[-LOOK_BACK:], self._canary_limit)
        if value is None:
            return interval
        return replace(interval, workers=(*interval.workers, WorkerHealth(CONTROLLER, 0, 0.0, {"canary": value})))

    def _ask_again(self) -> None:
        """A probe that disagrees is followed by others at once, until they are enough to be sure."""
        if self.canary is not None:
            probes, rows = self.ledger.probes[-LOOK_BACK:], self.ledger.seconds[-LOOK_BACK:]
            self.canary.hurry(now=doubtful(probes, rows, self._canary_limit))

    @property
    def _canary_limit(self) -> float:
        return in_force(self.plan.generator_limits)["canary"]

    def _watch(self, interval: Interval) -> None:
        """Mark what disturbs the generator under load, and the end of it."""
        if self.ledger.last is not None and isinstance(self.state, Loading):
            names = [worker.worker for worker in interval.workers if worker.worker not in PLACES]
            row = replace(self.ledger.last, hot=(*self.ledger.last.hot, *self._unscraped()))
            self.watched, marks = watch(self.watched, row, names)
            self._mark(marks)

    def _unscraped(self) -> Iterator[Hot]:
        """A hole in the run's series is marked like a disturbance; it is none of the generator's."""
        silence = self.scrapes.overdue(self.clock.monotonic()) if self.scrapes is not None else 0.0
        if silence > 0:
            yield Hot(UNSCRAPED, "prometheus", 1.0, silence)

    def _mark(self, marks: Iterable[Mark]) -> None:
        for mark in marks:
            if mark.signal == UNSCRAPED and mark.closed:
                self.chronicle.note(unscraped(mark))
            try:
                self.performer.perform(MarkTrouble(mark))
            except EdgeError as error:
                self.chronicle.note(f"a disturbance was not marked: {error}")

    def _apply(self, event: Event) -> None:
        self.state, actions = advance(self.state, event, self.limits)
        for action in actions:
            try:
                self.performer.perform(action)
            except EdgeError as error:
                self.board.count_edge_failure("generator")
                if isinstance(action, KillGenerator) or isinstance(self.state, Leaving | Ended):
                    self.chronicle.note(str(error))
                else:
                    self._apply(Broken(self._now(), str(error)))
                    return

    def _show(self) -> None:
        state, slots = self.state, tuple(self.chronicle.slots.values())
        if self.canary is not None:
            self.canary.sing(now=isinstance(state, Loading))
        if self.watched.open and not isinstance(state, Loading):
            self.watched, marks = finish(self.watched)
            self._mark(marks)
        if isinstance(state, Loading):
            mono = self.clock.monotonic()
            elapsed = mono - state.origin
            left = max(self.timetable.span.total_seconds() - elapsed, 0.0)
            now = load_at(self.timetable, timedelta(seconds=elapsed))
            rate = now.arrivals.start if now is not None and now.arrivals is not None else None
            silence = mono - max(self.reported, state.origin)
            load = {"users": state.last.users, "rate": rate, "silence": silence}
            self.board.update(state="loading", slots=slots, elapsed=elapsed, remaining=left, **load)
        else:
            self.board.update(state=type(state).__name__.lower(), slots=slots, users=0, rate=None, remaining=0.0)
        self.turn()

    def _sleep(self) -> None:
        before, pause = self.clock.monotonic(), self._pause()
        self.clock.sleep(pause)
        self.board.overrun(max(self.clock.monotonic() - before - pause, 0.0))

    def _pause(self) -> float:
        """Sleep to the next boundary of the timetable, at most one period."""
        if not isinstance(self.state, Loading):
            return PERIOD
        elapsed = timedelta(seconds=self.clock.monotonic() - self.state.origin)
        ahead = [edge - elapsed for edge in (*boundaries(self.timetable), self.timetable.span) if edge > elapsed]
        return min([PERIOD, *(gap.total_seconds() for gap in ahead)])

    def _now(self) -> Instant:
        return Instant(self.clock.now(), self.clock.monotonic())
