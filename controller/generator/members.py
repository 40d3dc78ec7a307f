"""One worker as the master knows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from controller.generator.latency import LAG_BOUNDS_US, Buckets
from controller.generator.pulse import Vitals
from controller.generator.wire import WorkerDrained
from controller.orders import WorkerHealth

SILENT_SECONDS = 2.5
"""A worker that has not reported for this long is silent: frozen, starved, or cut off. Reports come every second."""


class Presence(Enum):
    """Silent workers may come back; dead ones are never taken back."""

    UP = "up"
    SILENT = "silent"
    DEAD = "dead"


@dataclass(slots=True)
class Member:
    """`address` is its name on Locust's channel, `seen` the monotonic time of its last report."""

    name: str
    address: str
    seen: float
    presence: Presence = Presence.UP
    sequence: int = 0
    started: int = 0
    ended: int = 0
    users: int = 0
    retries: int = 0
    vitals: Vitals | None = None
    lags: Buckets = field(default_factory=lambda: Buckets(LAG_BOUNDS_US))
    new_lags: Counter[int] = field(default_factory=Counter)  # microseconds, since the last interval
    received: Counter[str] = field(default_factory=Counter)  # requests by outcome that its reports told of
    drained: WorkerDrained | None = None

    @property
    def gone(self) -> bool:
        """Whether nothing more will come from it."""
        return self.presence is Presence.DEAD

    def age(self, now: float) -> float:
        """Seconds since its last report."""
        return now - self.seen

    def connected(self, now: float) -> bool:
        """Whether its readings are of now."""
        return not self.gone and self.age(now) <= SILENT_SECONDS

    def health(self, now: float) -> WorkerHealth:
        """As of its last report; a worker that is not connected has no readings, only an age."""
        saturation = dict(self.vitals.saturation) if self.vitals and self.connected(now) else {}
        return WorkerHealth(self.name, self.users, self.age(now), saturation, dict(self.new_lags))
