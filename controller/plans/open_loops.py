"""What must fit together about the open loops of a plan; each rule looks only at parts that could be read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from math import ceil

from controller.plans.criterion import Criterion, Indicator
from controller.plans.duration import format_duration
from controller.plans.rate import format_rate
from controller.plans.readers import WRONG
from controller.plans.tables import Fields
from controller.plans.timetable import slots_of

_SECOND = timedelta(seconds=1)
_MIDDLE = (Indicator.P50, Indicator.MEAN)


def check_open_loops(plan: Fields) -> None:
    """Apply every rule."""
    for stage in _open_stages(plan):
        _locustfile_has_users(plan, stage)
        _slots_fit_objectives(plan, stage)


def _open_stages(plan: Fields) -> Iterator[Fields]:
    for stage in plan.get("stages", ()):
        if isinstance(stage, Fields) and stage.built is not WRONG and stage.built.loop is not None:
            yield stage


def _locustfile_has_users(plan: Fields, stage: Fields) -> None:
    workload = plan.get("workload")
    if isinstance(workload, Fields) and "locustfile" in workload.lines:
        stage.refuse("loop", "open needs requests of our own, and a locustfile sends its own", "say users instead")


def _slots_fit_objectives(plan: Fields, stage: Fields) -> None:
    """By Little's law rate times mean time are under way: a target that just meets an objective must find slots."""
    most = stage.get("max_in_flight")
    measured = [slot.arrivals for slot in slots_of(stage.built) if slot.window and slot.arrivals]
    if most is None or not measured:
        return
    rate = max(arrivals.end for arrivals in measured)
    for criterion in plan.get("objectives", ()):
        if not isinstance(criterion, Criterion) or criterion.indicator not in _MIDDLE:
            continue
        needed = rate * criterion.bound
        if needed > most:
            holds = format_duration(timedelta(microseconds=round(most / rate * 1e6)))
            found = (
                f"{most} slots take {format_rate(rate)} only while answers take {holds} on average (Little's law), "
                f"and {criterion.text} allows more"
            )
            stage.refuse("max_in_flight", found, f"raise it to {ceil(needed)} or more")
            return
