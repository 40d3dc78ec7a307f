"""The daemon: looks at the agenda once a second, runs what is due in a thread of its own, ends cleanly when asked."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from controller.plans.plan import Plan
from controller.ports import EdgeError
from controller.running.agenda import Agenda, Waiting, look, open_agenda
from controller.running.conducting import Finished, World, conduct
from controller.running.loop import StopRequest
from controller.running.recovery import close_dangling

log = logging.getLogger(__name__)

LOOK_PERIOD = 1.0
CHECKED = "agenda.json"
"""In the runs folder: when each plan was last looked at, so that due times missed while the daemon was down count."""


@dataclass(slots=True)
class Daemon:
    """One run at a time; `stop` ends the run that is on, then the daemon."""

    world: World
    plans: Sequence[Plan]
    stop: StopRequest
    at_once: bool = False  # run every plan once at the start, whatever its schedule says
    _run_stop: StopRequest = field(default_factory=StopRequest)
    _running: Plan | None = None
    _thread: threading.Thread | None = None

    def serve(self) -> None:
        """Block until asked to stop; a run that is on is drained, judged and archived first."""
        now = self.world.clock.now()
        agenda = open_agenda(tuple(self.plans), now, self._read_checked(), at_once=self.at_once)
        self._say_next(agenda)
        while (by := self.stop.take()) is None:
            agenda = self._turn(agenda)
            self.world.clock.sleep(LOOK_PERIOD)
        log.info("stopping by=%s", by)
        self._run_stop.ask(by)
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.2)
            if again := self.stop.take():
                self._run_stop.ask(again)

    def _turn(self, agenda: Agenda) -> Agenda:
        if self._thread is not None and not self._thread.is_alive():
            self._thread, self._running = None, None
            self._say_next(agenda)
        now = self.world.clock.now()
        seen = look(agenda, now, self._running)
        for remark in seen.remarks:
            log.warning("%s", remark)
        if seen.start is not None:
            self._begin(seen.start)
        self.world.board.schedule(seen.agenda.next_due(now), seen.agenda.misfires)
        if seen.start is not None or seen.remarks or now.second == 0:
            self._write_checked(seen.agenda)
        return seen.agenda

    def _begin(self, entry: Waiting) -> None:
        log.info("starting plan=%s due=%s", entry.plan.name, entry.due.isoformat())
        self._running = entry.plan
        self._thread = threading.Thread(target=self._run, args=(entry.plan,), name="run")
        self._thread.start()

    def _run(self, plan: Plan) -> None:
        """One run, in its thread; whatever goes wrong in it, the daemon goes on and the run is closed.

        A run that somebody started by hand in the same archive is waited for within the plan's grace.
        """
        grace = plan.schedule.grace.total_seconds() if plan.schedule else 0.0
        try:
            with self.world.runs.turn(grace):
                self._close_lost()
                self._conduct(plan)
        except EdgeError as error:
            self.world.board.count_edge_failure("run")
            log.error("no run of plan=%s: %s", plan.name, error)  # noqa: TRY400 -- the sentence is the whole story

    def _conduct(self, plan: Plan) -> None:
        board = self.world.board
        try:
            return _say(conduct(self.world, plan, self._run_stop))
        except EdgeError as error:
            log.error("no run of plan=%s: %s", plan.name, error)  # noqa: TRY400 -- the sentence is the whole story
        except Exception:
            log.exception("the run of plan=%s broke", plan.name)
        board.count_edge_failure("run")
        board.update(active=False, state="broken")
        return self._close_lost()

    def _close_lost(self) -> None:
        world = self.world
        for lost in close_dangling(world.runs, world.annotator, world.discovery, world.clock):
            log.warning("closed as abandoned: %s: %s", lost.run_id, lost.why)

    def _say_next(self, agenda: Agenda) -> None:
        for name, due in sorted(agenda.next_due(self.world.clock.now()).items(), key=lambda item: item[1]):
            log.info("next plan=%s due=%s", name, due.isoformat())

    @property
    def _checked(self) -> Path:
        return self.world.runs.path / CHECKED

    def _read_checked(self) -> Mapping[str, datetime]:
        try:
            return {name: datetime.fromisoformat(text) for name, text in json.loads(self._checked.read_text()).items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError):
            log.warning("%s cannot be read: due times missed while the daemon was down are not counted", self._checked)
            return {}

    def _write_checked(self, agenda: Agenda) -> None:
        fresh = self._checked.with_suffix(".new")
        fresh.write_text(json.dumps({name: moment.isoformat() for name, moment in agenda.checked.items()}))
        fresh.replace(self._checked)


def _say(finished: Finished) -> None:
    record = finished.record
    log.info(
        "ended run=%s outcome=%s verdict=%s exit_code=%d folder=%s",
        record.run_id, record.outcome, record.verdict.ruling, record.exit_code, finished.folder,
    )  # fmt: skip
