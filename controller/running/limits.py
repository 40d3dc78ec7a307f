"""How long a run may take at most, and how long its drain may."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from controller.plans.plan import Plan
from controller.plans.timetable import Timetable
from controller.running.states import Limits

MARGIN = timedelta(minutes=2)
"""Time beyond load and drain for start, discovery and leaving, before a run counts as stuck."""

DRAIN_MARGIN = timedelta(seconds=2)

REMOTE_START_SECONDS = 70.0
"""How long workers of other hosts may take: each starts its process when it sees the master. The master gives up after
60 s and says how many came; this is longer, so that its sentence is heard."""


def drain_timeout(plan: Plan) -> timedelta:
    """The plan's, else the request timeout and a little: no request can be in flight for longer."""
    return plan.drain_timeout or plan.workload.timeout + DRAIN_MARGIN


def run_limits(plan: Plan, timetable: Timetable, mono: float, *, metrics: bool, factor: float = 1.0) -> Limits:
    """Limits of a run that begins now (`mono`, monotonic seconds); the planned span counts `factor` times."""
    drain = drain_timeout(plan)
    deadline = mono + (factor * timetable.span + drain + MARGIN).total_seconds()
    limits = Limits(timetable, metrics, deadline, drain.total_seconds())
    return replace(limits, start_timeout=REMOTE_START_SECONDS) if plan.remote_workers else limits
