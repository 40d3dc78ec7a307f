"""What must fit together across a whole plan; each rule looks only at parts that could be read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from controller.plans.criterion import Criterion, Indicator, StopRule
from controller.plans.duration import format_duration
from controller.plans.fitting import workload_fits_target
from controller.plans.open_loops import check_open_loops
from controller.plans.plan import Stage
from controller.plans.readers import WRONG
from controller.plans.replay import read_recordings
from controller.plans.tables import Fields
from controller.plans.timetable import MAX_SPAN, slots_of

MAX_SLOTS = 1000

_SECOND = timedelta(seconds=1)
_TIMEOUT = timedelta(seconds=3)  # of a workload that names none

_NOT_LATENCIES = (
    Indicator.THROUGHPUT,
    Indicator.ERROR_RATIO,
    Indicator.TIMEOUT_RATIO,
    Indicator.DEGRADED_RATIO,
    Indicator.SATURATION,
)


def check_together(plan: Fields) -> None:
    """Apply every rule."""
    read_recordings(plan)
    _names_differ(plan)
    _workload_fits_target(plan)
    _span_fits(plan)
    _objectives_can_be_met(plan)
    _drain_outlasts_requests(plan)
    check_open_loops(plan)


def _stages(plan: Fields) -> Iterator[Fields]:
    yield from (stage for stage in plan.get("stages", ()) if isinstance(stage, Fields))


def _built(plan: Fields) -> list[Stage]:
    return [stage.built for stage in _stages(plan) if stage.built is not WRONG]


def _names_differ(plan: Fields) -> None:
    first: dict[str, int] = {}
    for stage in _stages(plan):
        name = stage.get("name")
        if name is not None and first.setdefault(name, stage.lines["name"]) != stage.lines["name"]:
            stage.refuse("name", f"{name} is the name of the stage on line {first[name]} already", "choose another")


def _workload_fits_target(plan: Fields) -> None:
    target, workload = plan.get("target"), plan.get("workload")
    if not isinstance(target, Fields) or not isinstance(workload, Fields) or "locustfile" in workload.lines:
        return
    workload_fits_target(target, workload)


def _span_fits(plan: Fields) -> None:
    slots = [slot for stage in _built(plan) for slot in slots_of(stage)]
    span = sum((slot.lasts for slot in slots), timedelta(0))
    if span > MAX_SPAN:
        plan.refuse(
            "stages", f"last {format_duration(span)}, and {format_duration(MAX_SPAN)} is allowed", "shorten them"
        )
    if len(slots) > MAX_SLOTS:
        plan.refuse("stages", f"make {len(slots)} slots, and {MAX_SLOTS} are allowed", "take fewer steps")
    for index, rule in enumerate(plan.get("stop_when", ())):
        if isinstance(rule, StopRule) and rule.held_for > span and len(_built(plan)) == len(plan.get("stages", ())):
            message = f"{rule.text}: can never fire in a run of {format_duration(span)}"
            plan.refuse_item("stop_when", index, message, "shorten its duration")


def _objectives_can_be_met(plan: Fields) -> None:
    objectives = [criterion for criterion in plan.get("objectives", ()) if isinstance(criterion, Criterion)]
    stages = _built(plan)
    whole = bool(stages) and len(stages) == len(plan.get("stages", ()))
    if objectives and whole and not any(slot.window for stage in stages for slot in slots_of(stage)):
        plan.refuse("objectives", "nothing is measured: no stage has a steady slot", "add one, or remove objectives")
    workload = plan.get("workload")
    timeout = _timeout(workload)
    seen: set[tuple[Indicator, object, float]] = set()
    for index, criterion in enumerate(plan.get("objectives", ())):
        if not isinstance(criterion, Criterion):
            continue
        if timeout is not None and criterion.indicator not in _NOT_LATENCIES and criterion.bound > timeout / _SECOND:
            message = f"{criterion.text}: no latency is seen beyond the timeout of {format_duration(timeout)}"
            plan.refuse_item("objectives", index, message, "lower the bound or raise workload.timeout")
        same = (criterion.indicator, criterion.operator, criterion.bound)
        if same in seen:
            plan.refuse_item("objectives", index, f"{criterion.text}: stands there twice", "keep one")
        seen.add(same)


def _timeout(workload: Any) -> timedelta | None:
    """After how long a request is given up; None where that is not known: a locustfile sets its own."""
    if not isinstance(workload, Fields) or "locustfile" in workload.lines:
        return None
    found: timedelta = workload.get("timeout", _TIMEOUT)
    return found


def _drain_outlasts_requests(plan: Fields) -> None:
    workload, drain = plan.get("workload"), plan.get("drain_timeout")
    timeout = _timeout(workload)
    if drain is not None and timeout is not None and drain < timeout:
        message = f"{format_duration(drain)} is shorter than the request timeout of {format_duration(timeout)}"
        plan.refuse("drain_timeout", message, "raise it, or requests would be cut off at the end")
