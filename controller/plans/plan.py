"""What a plan says: target, workload, stages, objectives, stop rules, schedule; values only, immutable once loaded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Literal

from controller.plans.answer_rules import Degraded, Expected
from controller.plans.arrivals import Process
from controller.plans.criterion import Criterion, StopRule
from controller.plans.recording_profile import Profile
from controller.plans.tls import Tls


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
    """The system under test. `rest` and `metrics` are URLs without a trailing slash; `rest` may be `unix:///a/socket`.

    `grpc` is host:port, or `grpcs://host:port` over TLS; at least one of `rest` and `grpc` is there.
    """

    kind: Literal["tfserving", "http"]
    rest: str | None = None
    model: str | None = None  # tfserving only
    version: int | None = None
    label: str | None = None
    grpc: str | None = None
    metrics: str | None = None  # the target's Prometheus page, if it has one
    health: str | None = None  # http only: a path that answers 200 when the target is ready
    tls: Tls | None = None  # for https; without it the system's authorities decide


@dataclass(frozen=True, slots=True)
class Payloads:
    """Where request payloads come from. Exactly one source is set.

    `npy`, `jsonl`, `csv` and `requests` are absolute paths; `random_shape` is the shape of one instance (float32 in
    [0, 1)); `from_model` takes types and shapes from the model's signature; `body` is one text for all requests.
    """

    npy: Path | None = None
    jsonl: Path | None = None
    csv: Path | None = None
    requests: Path | None = None  # whole recorded requests; http targets only
    body: str | None = None  # http targets only
    random_shape: tuple[int, ...] | None = None
    from_model: bool = False
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
    protocol: Literal["rest", "grpc"] = "rest"
    client: Literal["lean", "fast"] = "lean"  # fast: the client of Locust's FastHttpUser
    form: Literal["row", "column"] = "row"  # TF Serving's `instances` or `inputs`
    signature: str | None = None
    method: str = "POST"  # http targets
    path: str | None = None  # http targets
    headers: tuple[tuple[str, str], ...] = ()
    timeout: timedelta = timedelta(seconds=3)
    think_time: tuple[timedelta, timedelta] = (timedelta(0), timedelta(0))  # uniform between the two
    pacing: timedelta | None = None  # between a user's requests, from start to start; each user keeps its own beat
    required_fields: tuple[str, ...] = ()  # of the answer; `predictions`/`outputs` for tfserving unless told
    connect_timeout: timedelta | None = None  # inside `timeout`
    max_answer: int = 64 * 1024 * 1024  # bytes of a body
    status: tuple[int, ...] = (200,)  # of good answers
    allow_nan: bool = False  # NaN and Infinity in an answer
    expected: Expected | None = None
    degraded: Degraded | None = None
    retries: int = 0  # further attempts of a failed request, inside its latency, each counted
    connections: Literal["per_user", "shared"] = "per_user"  # grpc
    locustfile: Locustfile | None = None


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """Requests leave when they are due, whether or not earlier ones were answered; the numbers of a stage are then
    arrivals a second, otherwise users. Without `max_in_flight` there are slots for as many as the timeout can hold.
    """

    arrivals: Process = "constant"
    max_in_flight: int | None = None
    seed: int = 1


Level = int | float
"""Users, always whole; or, in an open loop, arrivals a second."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Constant load for a time."""

    name: str
    load: Level
    lasts: timedelta
    phase: Phase = Phase.STEADY
    discard: timedelta = timedelta(0)
    loop: OpenLoop | None = None
    kind: Literal["hold"] = "hold"


@dataclass(frozen=True, slots=True)
class Soak:
    """Constant load for a long time, its start discarded."""

    name: str
    load: Level
    lasts: timedelta
    discard: timedelta
    loop: OpenLoop | None = None
    kind: Literal["soak"] = "soak"


@dataclass(frozen=True, slots=True)
class Ramp:
    """Load rising or falling evenly; never measured."""

    name: str
    start: Level
    end: Level
    lasts: timedelta
    loop: OpenLoop | None = None
    kind: Literal["ramp"] = "ramp"


@dataclass(frozen=True, slots=True)
class Staircase:
    """Load from `start` in steps of `rise` up to and including `end`, each held for `every`."""

    name: str
    start: Level
    rise: Level
    end: Level
    every: timedelta
    discard: timedelta = timedelta(0)  # at the start of every step
    loop: OpenLoop | None = None
    kind: Literal["staircase"] = "staircase"


@dataclass(frozen=True, slots=True)
class Spike:
    """Base load, then at once peak load, then base again; the three spans in order."""

    name: str
    base: Level
    peak: Level
    before: timedelta
    lasts: timedelta  # of the peak
    after: timedelta
    discard: timedelta = timedelta(0)  # at the start of the peak
    loop: OpenLoop | None = None
    kind: Literal["spike"] = "spike"


@dataclass(frozen=True, slots=True)
class Replay:
    """The recorded requests of the workload at their recorded times, `speed` times as fast; `bound` ends it earlier.

    `recording` is read from the file when the plan is loaded and is no part of what the plan says.
    """

    name: str
    speed: float
    loop: OpenLoop
    bound: timedelta | None = None
    phase: Phase = Phase.STEADY
    discard: timedelta = timedelta(0)
    recording: Profile | None = None
    kind: Literal["replay"] = "replay"

    @property
    def lasts(self) -> timedelta:
        """The bound, else the whole recording."""
        if self.recording is None:
            raise ValueError(f"the recording of stage {self.name} was not read")
        return self.bound or self.recording.lasts


Stage = Hold | Soak | Ramp | Staircase | Spike | Replay


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


CANARY_PERIOD = timedelta(seconds=2)


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
    workers: int = 1  # in all
    remote_workers: int | None = 0  # of them on other hosts; None: so many more as there are when a run begins
    workers_auto: bool = False  # the number is this machine's, not the plan's
    objectives: tuple[Criterion, ...] = ()
    stop_when: tuple[StopRule, ...] = ()
    schedule: Schedule | None = None
    drain_timeout: timedelta | None = None  # default: the request timeout plus two seconds
    generator_limits: tuple[tuple[str, float], ...] = ()  # by signal, in its unit; the others are ours
    canary: timedelta | None = CANARY_PERIOD  # between probes of the controller's own; None: no probes
    tags: tuple[str, ...] = ()
