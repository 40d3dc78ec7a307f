"""What the daemon is to start, and when: the plans' schedules against the clock, one run at a time; pure.

One run at a time, whatever the targets: two generators on one host would disturb each other's measurement. A plan that
comes due while another target is under load waits its turn within its grace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from controller.plans.places import place_of
from controller.plans.plan import Plan
from controller.plans.schedule import PassedOver, due_runs, next_due, passed_over


@dataclass(frozen=True, slots=True)
class Waiting:
    """A plan that came due at `due` (aware UTC) and has not started."""

    plan: Plan
    due: datetime


@dataclass(frozen=True, slots=True)
class Agenda:
    """All plans, the newest instant at which each was looked at, what waits, and how many due times were missed."""

    plans: tuple[Plan, ...]
    checked: Mapping[str, datetime]  # by plan name
    waiting: tuple[Waiting, ...] = ()
    misfires: Mapping[str, int] = field(default_factory=dict)

    def next_due(self, now: datetime) -> dict[str, datetime]:
        """When each scheduled plan is due next."""
        dues = {plan.name: next_due(plan.schedule, now) for plan in self.plans if plan.schedule}
        return {name: due for name, due in dues.items() if due is not None}


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the clock: the agenda after it, the plan to start now if any, and remarks for the log."""

    agenda: Agenda
    start: Waiting | None
    remarks: tuple[str, ...]


def open_agenda(
    plans: tuple[Plan, ...], now: datetime, checked: Mapping[str, datetime], *, at_once: bool = False
) -> Agenda:
    """An agenda of plans; a plan that was never looked at before is looked at from now on.

    `at_once` lets every plan wait from the start, whatever its schedule says.
    """
    waiting = tuple(Waiting(plan, now) for plan in plans) if at_once else ()
    return Agenda(plans, {plan.name: checked.get(plan.name, now) for plan in plans}, waiting)


def look(agenda: Agenda, now: datetime, running: Plan | None) -> Look:
    """What became due since the last look, and what of it may start; `running` holds its target and this host."""
    remarks: list[str] = []
    misfires = dict(agenda.misfires)
    waiting = list(agenda.waiting)

    def miss(plan: Plan, number: int, why: str) -> None:
        misfires[plan.name] = misfires.get(plan.name, 0) + number
        remarks.append(f"{plan.name}: {number} due time{'s' if number > 1 else ''} missed: {why}")

    for plan in agenda.plans:
        if plan.schedule is None:
            continue
        since = agenda.checked[plan.name]
        remarks += [_says(plan, left_out) for left_out in passed_over(plan.schedule, since, now)]
        due = due_runs(plan.schedule, since, now)
        if due.missed:
            miss(plan, len(due.missed), "nobody looked in time")
        waiting += [Waiting(plan, moment) for moment in due.fire]
    kept: list[Waiting] = []
    for entry in waiting:
        if why := _gives_up(entry, now, running):
            miss(entry.plan, 1, why)
        else:
            kept.append(entry)
    start = kept.pop(0) if kept and running is None else None
    checked = {name: max(now, before) for name, before in agenda.checked.items()}
    return Look(replace(agenda, checked=checked, waiting=tuple(kept), misfires=misfires), start, tuple(remarks))


def _says(plan: Plan, left_out: PassedOver) -> str:
    why = "does not exist on this day" if left_out.why == "gap" else "comes a second time"
    return f"{plan.name}: not run for {left_out.wall:%Y-%m-%d %H:%M} local time, which {why}"


def _gives_up(entry: Waiting, now: datetime, running: Plan | None) -> str | None:
    """Why a waiting plan will not start any more, if so."""
    schedule = entry.plan.schedule
    if schedule is None or running is None:
        return None
    if schedule.overlap == "skip" and place_of(running.target) == place_of(entry.plan.target):
        return f"{running.name} holds the target"
    if schedule.overlap == "skip" and schedule.misfire == "skip" and now - entry.due > schedule.grace:
        return f"{running.name} held the generator's host for longer than the grace"
    return None
