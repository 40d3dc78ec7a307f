"""One worker as the master knows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from controller.generator.latency import LAG_BOUNDS_US, Buckets
from controller.generator.pulse import Vitals
from controller.generator.wire import WorkerDrained
from controller.orders import WorkerHealth

SILENT_SECONDS = 1.75
"""A worker that has said nothing for this long is silent: frozen, starved, or cut off. It speaks every quarter of a
second, and the interval after this tells of it, so that three seconds are kept."""

UNREPORTED_SECONDS = 3.0
"""The same for one that is there, but does not report."""

GONE_SECONDS = 10.0
"""A worker on another host that is silent for this long has ended itself, if it had not ended before."""


class Presence(Enum):
    """Silent workers may come back; dead ones are never taken back."""

    UP = "up"
    SILENT = "silent"
    DEAD = "dead"


@dataclass(slots=True)
class Member:
    """`address` is its name on Locust's channel, `seen` the monotonic time of its last report, `heard` that of
    its last word."""

    name: str
    address: str
    seen: float
    presence: Presence = Presence.UP
    heard: float = 0.0
    parts: int = 1  # among so many the load was divided when it got its newest share
    question: int = 0  # the newest that it asked after it had been asleep
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

    def quiet(self, now: float) -> float:
        """Seconds since its last word."""
        return now - max(self.heard, self.seen)

    def mute(self, now: float) -> bool:
        """Whether it has said nothing for too long."""
        return self.quiet(now) > SILENT_SECONDS or self.age(now) > UNREPORTED_SECONDS

    def connected(self, now: float) -> bool:
        """Whether its readings are of now."""
        return not self.gone and not self.mute(now)

    def health(self, now: float) -> WorkerHealth:
        """As of its last report; a worker that is not connected has no readings, only an age."""
        saturation = dict(self.vitals.saturation) if self.vitals and self.connected(now) else {}
        present = self.connected(now)
        return WorkerHealth(self.name, self.users, self.age(now), saturation, dict(self.new_lags), present)
