"""The world in memory, on a clock that only sleeping moves: what `stagelight rehearse` and tests run on.

The generator's rehearsal is in `rehearsal_generator`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from controller.plans.plan import Plan
from controller.ports import EdgeError, Finding, Region, Sample, Series

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
"""When a rehearsal begins unless it is told otherwise."""


@dataclass(slots=True)
class RehearsalClock:
    """Virtual time: `sleep` moves it and calls, in order, whatever was set for a moment that it passes."""

    wall: datetime = EPOCH
    elapsed: float = 0.0
    _alarms: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def now(self) -> datetime:
        """Aware UTC time."""
        return self.wall

    def monotonic(self) -> float:
        """Seconds slept since the rehearsal began."""
        return self.elapsed

    def sleep(self, seconds: float) -> None:
        """Advance at once; never backwards."""
        end = self.elapsed + max(seconds, 0.0)
        while self._alarms and self._alarms[0][0] <= end:
            moment, call = self._alarms.pop(0)
            self._advance(moment)
            call()
        self._advance(end)

    def at(self, elapsed: float, call: Callable[[], None]) -> None:
        """Call when the clock passes `elapsed` seconds: how a rehearsal makes something happen in mid-run."""
        self._alarms.append((elapsed, call))
        self._alarms.sort(key=lambda alarm: alarm[0])

    def step_wall(self, seconds: float) -> None:
        """Set the wall clock forward or back, as a time server does; monotonic time does not notice."""
        self.wall += timedelta(seconds=seconds)

    def _advance(self, moment: float) -> None:
        if moment > self.elapsed:
            self.wall += timedelta(seconds=moment - self.elapsed)
            self.elapsed = moment


@dataclass(slots=True)
class RehearsalAnnotator:
    """Regions in memory; `down` is a Grafana that does not answer."""

    down: bool = False
    regions: dict[str, Region] = field(default_factory=dict)  # what Grafana has
    puts: list[Region] = field(default_factory=list)  # every version, in order
    _waiting: dict[str, Region] = field(default_factory=dict)
    _failures: dict[str, int] = field(default_factory=dict)

    def put(self, region: Region) -> None:
        """Keep, and deliver when Grafana is up."""
        self.puts.append(region)
        self._waiting[region.key] = region
        self._deliver()

    def pending(self) -> int:
        """Regions whose newest version was not delivered."""
        self._deliver()
        return len(self._waiting)

    def failures(self) -> Mapping[str, int]:
        """Failed deliveries by reason."""
        return dict(self._failures)

    def open_regions(self) -> Sequence[Region]:
        """Regions whose newest version is not closed."""
        newest = {region.key: region for region in self.puts}
        return [region for region in newest.values() if not region.closed]

    def close(self, timeout: float) -> None:  # noqa: ARG002 (memory never makes anyone wait)
        """Deliver what can be delivered."""
        self._deliver()

    def _deliver(self) -> None:
        if self.down:
            self._failures["unreachable"] = self._failures.get("unreachable", 0) + len(self._waiting)
            return
        self.regions.update(self._waiting)
        self._waiting.clear()


@dataclass(slots=True)
class RehearsalDiscovery:
    """Run-time targets in memory."""

    published: dict[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)

    def publish(self, job: str, address: str, labels: Mapping[str, str]) -> None:
        """Make `address` the target of `job`."""
        self.published[job] = (address, dict(labels))

    def withdraw(self, job: str) -> None:
        """Leave no target of `job`."""
        self.published.pop(job, None)


@dataclass(slots=True)
class RehearsalStore:
    """A metric store with prepared answers; every published target is up. `down` makes every question fail."""

    clock: RehearsalClock
    discovery: RehearsalDiscovery = field(default_factory=RehearsalDiscovery)
    answers: dict[str, Sequence[Sample]] = field(default_factory=dict)  # by expression
    series: dict[str, Sequence[Series]] = field(default_factory=dict)  # by expression or selector
    down: bool = False

    def instant(self, expression: str, at: datetime | None = None) -> Sequence[Sample]:
        """The prepared samples that are not from after `at`, else nothing."""
        self._check(expression)
        return [sample for sample in self.answers.get(expression, ()) if at is None or sample.at <= at]

    def active_targets(self, job: str) -> Mapping[str, str]:
        """The published target of the job, up."""
        self._check(f"targets of {job}")
        entry = self.discovery.published.get(job)
        return {f"http://{entry[0]}/metrics": "up"} if entry else {}

    def range(self, expression: str, start: datetime, end: datetime, step: timedelta) -> Sequence[Series]:
        """The prepared series, cut to the span."""
        return self.raw(expression, start - step, end)

    def raw(self, selector: str, start: datetime, end: datetime) -> Sequence[Series]:
        """The prepared series, cut to `(start, end]`; those without a point in it are left out."""
        self._check(selector)
        first, last = start.timestamp(), end.timestamp()
        cut = (
            Series(found.labels, [point for point in found.points if first < point[0] <= last])
            for found in self.series.get(selector, ())
        )
        return [found for found in cut if found.points]

    def names(self, selector: str, start: datetime, end: datetime) -> Sequence[str]:
        """Names of the series prepared for the selector that have a point in the span."""
        return sorted({found.labels.get("__name__", "") for found in self.raw(selector, start, end)})

    def ready(self) -> bool:
        """Whether it answers."""
        return not self.down

    def _check(self, question: str) -> None:
        if self.down:
            raise EdgeError(f"could not ask the metric store for {question}: it is down in this rehearsal")


@dataclass(slots=True)
class RehearsalProbe:
    """A target that is found as it was prepared to be."""

    findings: Sequence[Finding] = (Finding("rehearsal", True, "no target was touched: this is a rehearsal"),)
    answers: Mapping[str, Any] = field(default_factory=lambda: {"rehearsal": True})
    looked_at: list[str] = field(default_factory=list)  # plan names, in order

    def preflight(self, plan: Plan) -> Sequence[Finding]:
        """The prepared findings."""
        self.looked_at.append(plan.name)
        return self.findings

    def identity(self, plan: Plan) -> Mapping[str, Any]:
        """The prepared identity."""
        self.looked_at.append(plan.name)
        return self.answers


@dataclass(slots=True)
class RehearsalFolder:
    """A run folder in memory; `full` is a disk without space."""

    entries: list[Mapping[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    full: bool = False

    def journal(self, entry: Mapping[str, Any]) -> None:
        """Append one entry."""
        self._check("the journal")
        self.entries.append(dict(entry))

    def write(self, name: str, content: bytes) -> None:
        """Write a file."""
        self._check(name)
        self.files[name] = content

    def _check(self, what: str) -> None:
        if self.full:
            raise EdgeError(f"could not write {what}: no space left in this rehearsal")
