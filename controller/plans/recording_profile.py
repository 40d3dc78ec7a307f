"""What a recording of requests is at a replay's speed, in a few figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Profile:
    """Requests that are replayed, how long the whole recording takes, the mean rate of the measured part, the most
    arrivals within a second and within a tenth of one."""

    requests: int
    lasts: timedelta
    mean: float
    peak: int
    burst: int
