"""A plan's run on in-memory edges, at the speed of thought: the same loop, the same lifecycle, another world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from controller.edges.rehearsal import (
    RehearsalAnnotator,
    RehearsalClock,
    RehearsalDiscovery,
    RehearsalFolder,
    RehearsalProbe,
)
from controller.edges.rehearsal_generator import RehearsalGenerator
from controller.figures.latency import LatencyLedger
from controller.plans.plan import Plan
from controller.plans.timetable import lay_out
from controller.plans.workers import settle
from controller.running.board import Board, RunView
from controller.running.chronicle import Chronicle
from controller.running.limits import run_limits
from controller.running.loop import RunLoop, StopRequest
from controller.running.performer import Performer, RunPorts
from controller.running.states import Ended


@dataclass(slots=True)
class TimedFolder(RehearsalFolder):
    """A run folder in memory that also keeps when each entry was written, in virtual seconds."""

    clock: RehearsalClock = field(default_factory=RehearsalClock)
    timed: list[tuple[float, Mapping[str, Any]]] = field(default_factory=list)

    def journal(self, entry: Mapping[str, Any]) -> None:
        """Append one entry with its time."""
        self.timed.append((self.clock.monotonic(), dict(entry)))


@dataclass(slots=True)
class Rehearsal:
    """A rehearsed run: everything it did, in order, and all that a real run would leave."""

    loop: RunLoop
    clock: RehearsalClock
    generator: RehearsalGenerator
    annotator: RehearsalAnnotator
    folder: TimedFolder

    @property
    def entries(self) -> list[tuple[float, Mapping[str, Any]]]:
        """Journal entries with their virtual time."""
        return self.folder.timed

    @property
    def ended(self) -> Ended:
        """How it ended."""
        if not isinstance(self.loop.state, Ended):
            raise TypeError("the rehearsal has not ended")
        return self.loop.state


def set_up(plan: Plan, generator: RehearsalGenerator | None = None, probe: RehearsalProbe | None = None) -> Rehearsal:
    """A rehearsal that has not begun; give a generator or a probe to make something go wrong."""
    plan = settle(plan, 1)
    clock = generator.clock if generator else RehearsalClock()
    generator = generator or RehearsalGenerator(clock)
    annotator, folder, board = RehearsalAnnotator(), TimedFolder(clock=clock), Board()
    timetable = lay_out(plan)
    chronicle = Chronicle(timetable)
    limits = run_limits(plan, timetable, clock.monotonic(), metrics=False)
    ports = RunPorts(generator, annotator, RehearsalDiscovery(), folder, watch=None)
    performer = Performer(plan, "rehearsal", ports, chronicle, timedelta(seconds=2 * limits.extend_every))
    board.begin(RunView("rehearsal", plan))
    loop = RunLoop(
        plan,
        timetable,
        limits,
        performer,
        probe or RehearsalProbe(),
        clock,
        board,
        StopRequest(),
        LatencyLedger(),
        chronicle,
    )
    return Rehearsal(loop, clock, generator, annotator, folder)


def rehearse(plan: Plan) -> Rehearsal:
    """Go through a run in which nothing goes wrong."""
    rehearsal = set_up(plan)
    rehearsal.loop.run()
    return rehearsal
