"""Loads versions: at once when the stand-in starts, by the script's plan, or when a folder of a new number appears."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from . import families as page_of
from .alarms import Alarms
from .behaviour import Behaviour
from .codes import Code, Failure
from .ledger import Ledger
from .metric_page import MetricPage
from .script import Load, Loading, Script
from .servables import Servables, State, Version

STAGES = ("init_graph", "restore_graph")


class VersionLoads:
    """Brings versions up, and the ones before them down afterwards, so that there is always one that answers."""

    def __init__(
        self, servables: Servables, page: MetricPage, ledger: Ledger, alarms: Alarms, behaviour: Behaviour
    ) -> None:
        """All parts are the caller's."""
        self._servables = servables
        self._page = page
        self._ledger = ledger
        self._alarms = alarms
        self._behaviour = behaviour
        self._generation = 0

    def load_now(self, number: int) -> None:
        """Load a version before the ports open."""
        version = self._servables.expect(number)
        self._finish(version, time.monotonic(), retire=False, fails=None)

    def plan(self, script: Script, start: float) -> None:
        """Load what a script that begins at `start` wants; loads that an earlier script still wanted are dropped."""
        self._generation += 1
        for load in script.loads:
            self._alarms.at(start + load.at, partial(self._planned, load, self._generation))

    def follow(self, folder: Path) -> None:
        """Load the largest version number in a folder if it is new, as the real server does by default."""
        found = version_numbers(folder)
        if found and found[-1] not in self._servables.tracked():
            self._begin(found[-1], self._behaviour.script.loading, retire=True, fails=None)

    def _planned(self, load: Load, generation: int) -> None:
        if generation == self._generation:
            self._begin(load.version, load, retire=load.retire, fails=load.fails)

    def _begin(self, number: int, loading: Loading, *, retire: bool, fails: str | None) -> None:
        now = time.monotonic()
        if number in self._servables.tracked():
            self._ledger.note("load_ignored", now, version=number)
            return
        default = self._behaviour.script.loading
        cost = loading if loading.model_fields_set & Loading.model_fields.keys() else default
        version = self._servables.expect(number)
        self._ledger.note("load_started", now, version=number, takes=cost.takes)
        self._behaviour.slow_until(now + cost.takes, cost, now)
        finish = partial(self._finish, version, now, retire=retire, fails=fails)
        if cost.takes > 0:
            self._alarms.at(now + cost.takes, finish)
        else:
            finish()

    def _finish(self, version: Version, began: float, *, retire: bool, fails: str | None) -> None:
        status = "success"
        if fails is None:
            version.load()
        else:
            version.state, version.failure, status = State.END, Failure(Code.INTERNAL, fails), "fail"
        now = time.monotonic()
        micros = int((now - began) * 1e6)
        self._page.count(page_of.LOAD_ATTEMPT_COUNT, (version.path, status))
        self._page.count(page_of.LOAD_LATENCY, (version.path,), by=micros)
        if fails is None:
            self._note_graph(version, micros)
        self._ledger.note("load_ended", now, version=version.number, status=status)
        if retire and fails is None:
            for older in self._servables.available():
                if older.number < version.number:
                    older.state = State.END

    def _note_graph(self, version: Version, micros: int) -> None:
        """A load runs the graph twice: once to restore the variables, once to initialise."""
        for stage in STAGES:
            self._page.observe(page_of.LOAD_LATENCY_BY_STAGE, micros // len(STAGES), (version.path, stage))
            self._page.count(page_of.GRAPH_RUNS)
            self._page.count(page_of.DIRECT_SESSION_RUNS)
            self._page.count(page_of.GRAPH_BUILD_CALLS)
        self._page.count(page_of.SESSION_CREATED, by=0)


def version_numbers(folder: Path) -> list[int]:
    """The version numbers that have a sub-folder, in order; empty if the folder is missing."""
    try:
        entries = list(folder.iterdir())
    except OSError:
        return []
    return sorted(
        int(entry.name) for entry in entries if entry.name.isascii() and entry.name.isdigit() and entry.is_dir()
    )
