"""Regions and waiting, for the tests of the annotator."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_pace import Pace
from controller.plans.plan import Phase
from controller.plans.timetable import Slot
from controller.ports import Region
from controller.running import annotation

FAST = Pace(first=0.01, longest=0.05, confirm_after=0.6, credential_every=0.05, connect=2.0, read=2.0)
HASTY = replace(FAST, read=0.2)
START = datetime(2030, 1, 1, tzinfo=UTC)


def a_region(
    seq: int = 0, *, run_id: str = "r-1", plan: str = "nightly", ends: float = 60, closed: bool = True
) -> Region:
    slot = Slot(seq, "climb", Phase.RAMP, timedelta(0), timedelta(seconds=60), 10, 50)
    return annotation.region(run_id, plan, slot, START, START + timedelta(seconds=ends), closed=closed)


def until(holds: Callable[[], bool], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def settle(annotator: GrafanaAnnotator) -> None:
    until(lambda: annotator.pending() == 0)
