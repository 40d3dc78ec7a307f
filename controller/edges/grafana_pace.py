"""When may Grafana be asked again? Back-off with jitter, its own wish, and silence after a refused credential."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from controller.edges.grafana_failure import GrafanaError


@dataclass(frozen=True, slots=True)
class Pace:
    """All in seconds. `confirm_after`: how long a POST whose answer was lost may take to come into being."""

    first: float = 0.5
    longest: float = 30.0
    confirm_after: float = 15.0
    credential_every: float = 5.0  # how often a refused credential's file is looked at
    connect: float = 2.0  # limit of one call
    read: float = 5.0  # limit of one call


@dataclass(slots=True)
class Patience:
    """What the last failures mean for the next call. Times are monotonic seconds."""

    pace: Pace
    chance: random.Random = field(default_factory=random.Random)
    streak: int = 0
    not_before: float = 0.0
    told: bool = False  # `not_before` is Grafana's own wish
    refused: str | None = None  # stamp of the credential that must not be used again

    def delay(self, now: float, stamp: str) -> float:
        """Seconds to wait, with a credential file of this stamp; 0 when the next call may go out."""
        if self.refused == stamp:
            return self.pace.credential_every
        if self.refused is not None:
            self.refused, self.not_before = None, now
        return max(self.not_before - now, 0.0)

    def failed(self, error: GrafanaError, now: float, stamp: str) -> None:
        """Wait longer each time: half to all of the doubled delay, so that several clients spread out."""
        wait = min(self.pace.longest, self.pace.first * 2.0 ** min(self.streak, 16))
        self.streak += 1
        self.told = error.retry_after is not None
        self.not_before = now + (error.retry_after or wait * self.chance.uniform(0.5, 1.0))
        if error.reason.waits_for_credential:
            self.refused = stamp

    def succeeded(self) -> None:
        """Grafana is there."""
        self.streak, self.not_before, self.told = 0, 0.0, False

    def hurry(self) -> None:
        """Time is short: try at once, unless Grafana told us when to come back."""
        self.streak = 0
        if not self.told:
            self.not_before = 0.0
