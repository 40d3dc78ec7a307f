"""What a plan says: target, workload, stages, objectives, stop rules, schedule; values only, immutable once loaded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Literal

from controller.plans.criterion import Criterion, StopRule


class Phase(StrEnum):
    """What a moment is for; only steady is measured."""

    PREFLIGHT = "preflight"
    WARMUP = "warmup"
    RAMP = "ramp"
    STEADY = "steady"
    COOLDOWN = "cooldown"
    DRAIN = "drain"


@dataclass(frozen=True, slots=True)
class Target:
    """The system under test. `rest` and `metrics` are URLs without a trailing slash, `grpc` is host:port."""

    kind: Literal["tfserving", "http"]
    rest: str
    model: str | None = None  # tfserving only
    version: int | None = None
    label: str | None = None
    grpc: str | None = None
    metrics: str | None = None  # the target's Prometheus page, if it has one
    health: str | None = None  # http only: a path that answers 200 when the target is ready


@dataclass(frozen=True, slots=True)
class Payloads:
    """Where request payloads come from. Exactly one source is set.

    `npy` and `jsonl` are absolute paths; `random_shape` is the shape of one instance (float32 in [0, 1)).
    """

    npy: Path | None = None
    jsonl: Path | None = None
    random_shape: tuple[int, ...] | None = None
    count: int = 1000  # of random payloads
    rows: int = 1  # instances a request
    order: Literal["shuffled", "sequential"] = "shuffled"
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Locustfile:
    """Own Locust user classes: absolute path, the classes to run (none named: all), host instead of theirs."""

    file: Path
    user_classes: tuple[str, ...] = ()
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What one request is; with a `locustfile` its code says that, and `timeout` only bounds the wait at the end."""

    payloads: Payloads
    protocol: Literal["rest"] = "rest"
    form: Literal["row", "column"] = "row"  # TF Serving's `instances` or `inputs`
    signature: str | None = None
    path: str | None = None  # http targets: path of the POST
    headers: tuple[tuple[str, str], ...] = ()
    timeout: timedelta = timedelta(seconds=3)
    think_time: tuple[timedelta, timedelta] = (timedelta(0), timedelta(0))  # uniform between the two
    required_fields: tuple[str, ...] = ()  # of the answer; `predictions`/`outputs` for tfserving unless told
    locustfile: Locustfile | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """Constant users for a time."""

    name: str
    users: int
    lasts: timedelta
    phase: Phase = Phase.STEADY
    discard: timedelta = timedelta(0)
    kind: Literal["hold"] = "hold"


@dataclass(frozen=True, slots=True)
class Soak:
    """Constant users for a long time, its start discarded."""

    name: str
    users: int
    lasts: timedelta
    discard: timedelta
    kind: Literal["soak"] = "soak"


@dataclass(frozen=True, slots=True)
class Ramp:
    """Users rising or falling evenly; never measured."""

    name: str
    start: int
    end: int
    lasts: timedelta
    kind: Literal["ramp"] = "ramp"


@dataclass(frozen=True, slots=True)
class Staircase:
    """Users from `start` in steps of `rise` up to and including `end`, each held for `every`."""

    name: str
    start: int
    rise: int
    end: int
    every: timedelta
    discard: timedelta = timedelta(0)  # at the start of every step
    kind: Literal["staircase"] = "staircase"


@dataclass(frozen=True, slots=True)
class Spike:
    """Base users, then at once peak users, then base again; the three spans in order."""

    name: str
    base: int
    peak: int
    before: timedelta
    lasts: timedelta  # of the peak
    after: timedelta
    discard: timedelta = timedelta(0)  # at the start of the peak
    kind: Literal["spike"] = "spike"


Stage = Hold | Soak | Ramp | Staircase | Spike


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a plan is due: five-field cron in an IANA time zone, and what to do when the world does not fit."""

    cron: str
    timezone: str
    misfire: Literal["skip", "run_once"] = "skip"
    grace: timedelta = timedelta(minutes=1)
    overlap: Literal["skip", "queue"] = "skip"  # another run holds the target
    gap: Literal["skip", "run_at_gap_end"] = "run_at_gap_end"  # wall time that does not exist
    fold: Literal["first_only", "both"] = "first_only"  # wall time that happens twice


@dataclass(frozen=True, slots=True)
class Plan:
    """A loaded plan. `digest` is the SHA-256 of its normalised content, `source` the file's exact text."""

    name: str
    target: Target
    workload: Workload
    stages: tuple[Stage, ...]
    digest: str
    source: str
    path: Path
    workers: int = 1
    objectives: tuple[Criterion, ...] = ()
    stop_when: tuple[StopRule, ...] = ()
    schedule: Schedule | None = None
    drain_timeout: timedelta | None = None  # default: the request timeout plus two seconds
    tags: tuple[str, ...] = ()
