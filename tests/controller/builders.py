"""Values for tests, each complete and each part replaceable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from controller.plans.plan import Hold, Payloads, Phase, Plan, Stage, Target, Workload
from controller.plans.timetable import lay_out
from controller.running.happenings import Instant
from controller.running.states import Limits

START = datetime(2030, 1, 1, 12, tzinfo=UTC)


def seconds(number: float) -> timedelta:
    """A duration."""
    return timedelta(seconds=number)


def at(mono: float) -> Instant:
    """A moment `mono` seconds after START, on both clocks."""
    return Instant(START + timedelta(seconds=mono), mono)


WARM = Hold("warm", load=2, lasts=seconds(5), phase=Phase.WARMUP)
STEADY = Hold("steady", load=10, lasts=seconds(20), discard=seconds(5))


def a_plan(*stages: Stage, **changes: object) -> Plan:
    """A plan against a loopback target; five seconds of warm-up and twenty steady unless told otherwise."""
    plan = Plan(
        name="nightly",
        target=Target("tfserving", "http://127.0.0.1:8501", "scorer"),
        workload=Workload(Payloads(random_shape=(16,))),
        stages=stages or (WARM, STEADY),
        digest="d" * 64,
        source="version: 1\n",
        path=Path("nightly.yaml"),
    )
    return replace(plan, **changes)  # type: ignore[arg-type]


def limits(stages: Sequence[Stage] = (WARM, STEADY), **changes: object) -> Limits:
    """Limits of a run of these stages, with Prometheus there."""
    given = Limits(lay_out(a_plan(*stages)), metrics=True, deadline=1000.0, drain_timeout=5.0)
    return replace(given, **changes)  # type: ignore[arg-type]
