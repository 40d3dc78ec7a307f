"""What the controller needs from the world, as Protocols; `edges/` fulfils them, rehearsals too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from controller.figures.canary import Probe
from controller.generator_spec import GeneratorSpec
from controller.orders import Command, Report
from controller.plans.plan import Plan


class EdgeError(Exception):
    """Something outside us did not work; the message says what could not be done, to what, why."""


class RunBrokenError(EdgeError):
    """A run that had begun could not be brought to its archive."""


class Clock(Protocol):
    """Wall time for stamps, monotonic time for durations."""

    def now(self) -> datetime:
        """Aware UTC time."""
        ...

    def monotonic(self) -> float:
        """Seconds; only differences mean anything."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait; returns early when the process is told to stop."""
        ...


class Generator(Protocol):
    """The Locust processes of one run."""

    def start(self, spec: GeneratorSpec) -> None:
        """Start the process group; `Hello` arrives as a report. Raises `EdgeError`."""
        ...

    def send(self, command: Command) -> None:
        """Hand a command to the master; never blocks for long. Raises `EdgeError` when it is gone."""
        ...

    def reports(self) -> Sequence[Report]:
        """Everything that arrived since the last call, in order; never blocks."""
        ...

    def alive(self) -> bool:
        """Whether any process of the group still runs."""
        ...

    def kill(self) -> None:
        """End the whole group, gracefully first, by force within ten seconds. Safe to call twice."""
        ...


@dataclass(frozen=True, slots=True)
class Region:
    """One annotation: a slot of a run. `key` is unique; times are aware UTC; `end` is bounded, never open.

    The same key again with a later `end` (or other text) moves the region; nothing is ever posted twice.
    """

    run_id: str
    seq: int
    start: datetime
    end: datetime
    text: str
    tags: tuple[str, ...]
    closed: bool  # no later version of this region will follow
    marker: str = "run-phase"  # the tag that says what kind of region it is

    @property
    def key(self) -> str:
        """Identity over restarts."""
        return f"{self.run_id}/{self.seq}"


class Annotator(Protocol):
    """Regions into Grafana through a durable outbox; never delays a run."""

    def put(self, region: Region) -> None:
        """Store durably and return; the delivery happens behind."""
        ...

    def pending(self) -> int:
        """Regions not yet accepted by Grafana in their newest version."""
        ...

    def failures(self) -> Mapping[str, int]:
        """Failed deliveries so far, by reason."""
        ...

    def open_regions(self) -> Sequence[Region]:
        """Regions that were put and never closed, also by an earlier process that crashed."""
        ...

    def close(self, timeout: float) -> None:
        """Deliver what can be delivered within `timeout` seconds, then stop."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """One instant-vector element; `value` may be NaN or infinite."""

    labels: Mapping[str, str]
    value: float
    at: datetime


class MetricStore(Protocol):
    """Prometheus, as we read it."""

    def instant(self, expression: str, at: datetime | None = None) -> Sequence[Sample]:
        """Evaluate at an instant (default: now). Raises `EdgeError`."""
        ...

    def active_targets(self, job: str) -> Mapping[str, str]:
        """Scrape URL to health (`up`, `down`, `unknown`) of every active target of a job. Raises `EdgeError`."""
        ...


@dataclass(frozen=True, slots=True)
class Series:
    """One series over time: epoch seconds and values in order of time; values may be NaN or infinite."""

    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]


class SeriesStore(MetricStore, Protocol):
    """Prometheus, read over a span of time."""

    def range(self, expression: str, start: datetime, end: datetime, step: timedelta) -> Sequence[Series]:
        """Evaluate every `step` from `start` to `end`, both included. Raises `EdgeError`."""
        ...

    def raw(self, selector: str, start: datetime, end: datetime) -> Sequence[Series]:
        """Stored samples with their own timestamps in `(start, end]`. Raises `EdgeError`."""
        ...

    def names(self, selector: str, start: datetime, end: datetime) -> Sequence[str]:
        """Metric names with a series that the selector (in braces) matches in the span, sorted. Raises `EdgeError`."""
        ...

    def ready(self) -> bool:
        """Whether the store answers queries now; never raises for a store that is down."""
        ...


class Discovery(Protocol):
    """Tells Prometheus at run time what to scrape."""

    def publish(self, job: str, address: str, labels: Mapping[str, str]) -> None:
        """Make `address` (host:port) a target of `job`."""
        ...

    def withdraw(self, job: str) -> None:
        """Leave no run-time target of `job`."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One preflight check: what was looked at, whether it is fit, and in a sentence what was seen and what to do.

    A `warning` is fit to go on with, but something that the run's reader has to know.
    """

    check: str
    fit: bool
    sentence: str
    warning: bool = False
    requests: int = 0  # inference requests that looking took: the target counts them, no run does
    seconds: float | None = None  # the median that those took

    @property
    def severity(self) -> Literal["ok", "warn", "refuse"]:
        """What the finding means for the run."""
        if not self.fit:
            return "refuse"
        return "warn" if self.warning else "ok"


class TargetProbe(Protocol):
    """Looks at the target before and after load."""

    def preflight(self, plan: Plan) -> Sequence[Finding]:
        """Health, model state, one real request per payload kind, a short trial; never raises for a bad target."""
        ...

    def identity(self, plan: Plan) -> Mapping[str, Any]:
        """What the target says of itself (model, versions, server header): part of the fingerprint."""
        ...


class Canary(Protocol):
    """A lone probe beside the load: its latencies are in no figure of the run."""

    def sing(self, *, now: bool) -> None:
        """Whether probes may leave from now on; never waits."""
        ...

    def hurry(self, *, now: bool) -> None:
        """Whether probes follow each other quickly from now on, because the newest one raised a doubt; never waits."""
        ...

    def probes(self) -> Sequence[Probe]:
        """Those that ended since the last call; never waits."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Probes that left so far, by outcome: the target counts them, no run does."""
        ...

    def stop(self) -> None:
        """No probe leaves any more; never waits."""
        ...


class RunFolder(Protocol):
    """The archive of one run."""

    def journal(self, entry: Mapping[str, Any]) -> None:
        """Append one line, fsynced, before the action that it announces."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Write a file by temporary name, fsync and rename."""
        ...
