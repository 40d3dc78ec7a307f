"""The run as it stands now: written by the run loop, read by `/metrics` and by the display from other threads."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from controller.figures.canary import Probe
from controller.orders import Interval
from controller.plans.plan import Plan
from controller.running.chronicle import SlotTimes


@dataclass(frozen=True, slots=True)
class RunView:
    """One moment of the run that is on, or the end of the last one; replaced as a whole, never changed."""

    run_id: str
    plan: Plan
    state: str = "preparing"
    slots: tuple[SlotTimes, ...] = ()
    users: int = 0  # asked for by the newest order
    rate: float | None = None  # arrivals a second asked for now, in an open loop
    elapsed: float = 0.0  # seconds under load
    remaining: float = 0.0  # planned seconds of load left
    interval: Interval | None = None
    silence: float = 0.0  # seconds under load since the generator last reported
    canary: Mapping[str, int] = field(default_factory=dict)  # probes by outcome
    probe: Probe | None = None  # the canary's newest
    verdict: str | None = None
    active: bool = True


@dataclass(frozen=True, slots=True)
class DaemonView:
    """What outlives a run."""

    runs: Mapping[tuple[str, str], int] = field(default_factory=dict)  # (outcome, verdict) -> number
    next_due: Mapping[str, datetime] = field(default_factory=dict)  # plan -> instant
    misfires: Mapping[str, int] = field(default_factory=dict)
    edge_failures: Mapping[str, int] = field(default_factory=dict)
    loop_overrun: float = 0.0


class Board:
    """Holds the two views; every access is short and locked."""

    def __init__(self) -> None:
        """Start with no run."""
        self._lock = threading.Lock()
        self._run: RunView | None = None
        self._daemon = DaemonView()

    def run(self) -> RunView | None:
        """The run that is on, or the last one."""
        with self._lock:
            return self._run

    def daemon(self) -> DaemonView:
        """Counters and due times."""
        with self._lock:
            return self._daemon

    def begin(self, view: RunView) -> None:
        """A new run takes the board."""
        with self._lock:
            self._run = view

    def update(self, **changes: object) -> None:
        """Change fields of the run's view."""
        with self._lock:
            if self._run is not None:
                self._run = replace(self._run, **changes)  # type: ignore[arg-type]

    def count_run(self, outcome: str, verdict: str) -> None:
        """A run ended."""
        with self._lock:
            runs = {**self._daemon.runs}
            runs[outcome, verdict] = runs.get((outcome, verdict), 0) + 1
            self._daemon = replace(self._daemon, runs=runs)

    def count_edge_failure(self, edge: str) -> None:
        """A call to the world failed."""
        with self._lock:
            failures = {**self._daemon.edge_failures}
            failures[edge] = failures.get(edge, 0) + 1
            self._daemon = replace(self._daemon, edge_failures=failures)

    def schedule(self, next_due: Mapping[str, datetime], misfires: Mapping[str, int]) -> None:
        """The schedules were looked at."""
        with self._lock:
            self._daemon = replace(self._daemon, next_due=dict(next_due), misfires=dict(misfires))

    def overrun(self, seconds: float) -> None:
        """The last tick of the loop came this late."""
        with self._lock:
            self._daemon = replace(self._daemon, loop_overrun=seconds)
