"""What the report reads of a run's `record.json`; keys that it does not know are the record's own business."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from dashboards.report.instrument import Canary, Cut, Disturbance, Health

SCHEMA = 1
"""Version of the record that this reader understands."""


class RecordError(Exception):
    """The record cannot be read; the sentence says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measurement: `value` None means absent, and then `reason` says why. `low`..`high` with 95 % confidence.

    `censored`: the value is a lower bound only, because requests that were given up are among those it speaks of.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    censored: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """Requests that took `[low, high)` seconds; `high` None: no end."""

    low: float
    high: float | None
    count: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Punctuality:
    """How an open loop kept its schedule; `asked` arrivals a second, lateness in seconds."""

    asked: float
    due: int
    dropped: dict[str, int]
    lateness_p99: float | None


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Arrivals a second of an open slot, at its start and at its end."""

    start: float
    end: float


def rate(value: float) -> str:
    """`1,200/s`."""
    return f"{value:,.3f}".rstrip("0").rstrip(".") + "/s"


@dataclass(frozen=True, slots=True)
class Window:
    """One measured window and its figures by indicator (`p99`, `mean`, `throughput`, …), in base units."""

    slot: int
    stage: str
    users: int
    start: datetime
    end: datetime
    seconds: float
    outcomes: dict[str, int]
    indicators: dict[str, Figure]
    tail_ratio: Figure
    shares: tuple[Share, ...]
    health: Health
    loop: str = "closed"
    punctuality: Punctuality | None = None
    from_send: dict[str, Figure] = field(default_factory=dict)
    disturbances: tuple[Disturbance, ...] = ()
    cut: Cut | None = None
    remarks: tuple[str, ...] = ()
    distortion: dict[str, Figure] = field(default_factory=dict)
    canary: Canary | None = None

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"{self.stage} @{rate(self.punctuality.asked) if self.punctuality else f'{self.users:,}'}"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the verdict is not a plain pass, and what to do; `slot` None: the whole run."""

    ruling: str
    slot: int | None
    sentence: str
    advice: str


@dataclass(frozen=True, slots=True)
class Objective:
    """One objective held against one window; `margin` is the distance to the limit as a share of it."""

    objective: str
    indicator: str
    slot: int
    ruling: str
    measured: Figure
    margin: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the run means, why, and the objectives window by window."""

    ruling: str
    reasons: tuple[Reason, ...]
    objectives: tuple[Objective, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """One phase of one stage, as planned (seconds from the start of load) and as acknowledged (None: never)."""

    seq: int
    stage: str
    phase: str
    users_start: int
    users_end: int
    planned_start: float
    planned_end: float
    started: datetime | None = None
    measured_from: datetime | None = None
    ended: datetime | None = None
    arrivals: Arrivals | None = None

    @property
    def load(self) -> tuple[str, str]:
        """Users or arrivals a second at start and end, as people read them."""
        if self.arrivals is not None:
            return rate(self.arrivals.start), rate(self.arrivals.end)
        return f"{self.users_start:,}", f"{self.users_end:,}"


@dataclass(frozen=True, slots=True)
class PlanRef:
    """Which plan was run."""

    name: str
    digest: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One preflight check."""

    check: str
    fit: bool
    sentence: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Generator:
    """The generator's books."""

    workers: int
    started: int
    aborted: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run's record, as far as the report tells it."""

    run_id: str
    plan: PlanRef
    started: datetime
    ended: datetime
    outcome: str
    because: str
    exit_code: int
    verdict: Verdict
    windows: tuple[Window, ...]
    totals: dict[str, int]
    generator: Generator
    timetable: tuple[Slot, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    fingerprint: dict[str, Any]
    method: str
    canary: dict[str, int] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def span(self) -> tuple[float, float]:
        """First and last acknowledged instant under load, epoch seconds; the run's own start and end without any."""
        starts = [slot.started for slot in self.timetable if slot.started]
        ends = [slot.ended for slot in self.timetable if slot.ended]
        start, end = min(starts, default=self.started), max(ends, default=self.ended)
        return start.timestamp(), max(start, end).timestamp()


_RUN = TypeAdapter(Run)


def read(path: Path) -> Run:
    """The run in a `record.json`. Raises `RecordError`."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RecordError(f"could not read {path}: {error}; give the folder of a run that has ended") from error
    version = document.get("schema") if isinstance(document, dict) else None
    if version != SCHEMA:
        raise RecordError(
            f"could not read {path}: its schema is version {version}, this report knows {SCHEMA}; "
            "use the version of stagelight that wrote it"
        )
    try:
        return _RUN.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"could not read {path}: {where}: {first['msg']}") from error
