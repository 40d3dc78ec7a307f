"""What the report reads of a record about the generator itself: its state in each window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Health:
    """The generator during a window; seconds."""

    saturated_seconds: float
    unknown_seconds: float
    worst_saturation: float | None
    worst_signal: str


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A signal of a worker that was at its limit for `seconds` between `start` and `end`; `worst`: 1 is at it."""

    signal: str
    worker: str
    start: datetime
    end: datetime
    seconds: float
    share: float
    worst: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """What was left out of a window, and why."""

    start: datetime
    end: datetime
    seconds: float
    because: str


@dataclass(frozen=True, slots=True)
class Canary:
    """Of `n` lone probes of the controller: their median, and the generator's in the same seconds; None: too few."""

    n: int
    p50: float | None
    generator_p50: float | None
