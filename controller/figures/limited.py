"""Was it the generator that limited a window's throughput? Then the throughput is a lower bound of the target's."""

from __future__ import annotations

from controller.figures.health import Health
from controller.figures.measurement import Measured, Measurement
from controller.figures.punctuality import Punctuality

LATE_SECONDS = 0.010
LATE_RATIO = 0.1
"""An open loop whose lateness P99 is above both this time and this share of its latency P99 measures itself."""

SHORT_SHARE = 0.05
"""More than this share of a window with other users than asked for: another load was measured than the plan says."""


def limited(health: Health, punctuality: Punctuality | None, p99: Measurement) -> bool:
    """Whether more load would have come, had the generator been able to send it."""
    return (
        health.saturated
        or health.short_seconds > SHORT_SHARE * health.observed_seconds
        or bool(health.lost_workers)
        or behind_schedule(punctuality, p99)
    )


def behind_schedule(punctuality: Punctuality | None, p99: Measurement) -> bool:
    """Whether an open loop sent later than the latencies that it measures allow."""
    late = punctuality.lateness_p99 if punctuality else None
    return late is not None and late > allowed_lateness(p99)


def allowed_lateness(p99: Measurement) -> float:
    """Seconds that the lateness P99 of an open loop may be at most, given its latency P99."""
    return max(LATE_SECONDS, LATE_RATIO * (p99.value if isinstance(p99, Measured) else 0.0))


def at_least(throughput: Measurement) -> Measurement:
    """A counted rate as a lower bound."""
    match throughput:
        case Measured(value=value, n=n):
            return Measured(value, n, value, None, censored=True)
        case _:
            return throughput
