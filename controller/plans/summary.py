"""What a plan would do, in figures: its timetable, peak, span, criteria and next due times; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from controller.plans.duration import format_duration
from controller.plans.places import place_of
from controller.plans.plan import Plan, Schedule
from controller.plans.rate import format_rate
from controller.plans.schedule import next_due
from controller.plans.timetable import Slot, Timetable, lay_out

DUES = 3
"""How many due times are shown."""

COLUMNS = ("seq", "stage", "phase", "start", "lasts", "load", "measured")
"""Header of `rows`."""


def coming_dues(schedule: Schedule, now: datetime) -> list[datetime]:
    """The next due times after `now`, aware UTC; fewer than `DUES` when they are more than a year ahead."""
    dues: list[datetime] = []
    while len(dues) < DUES and (due := next_due(schedule, dues[-1] if dues else now)) is not None:
        dues.append(due)
    return dues


def rows(timetable: Timetable) -> Iterator[tuple[str, ...]]:
    """The timetable for people, one row a slot; times are offsets from the start of load."""
    for slot in timetable.slots:
        users = load_text(slot)
        window = " to ".join(map(format_duration, slot.window)) if slot.window else "-"
        times = (format_duration(slot.start), format_duration(slot.lasts))
        yield (str(slot.seq), slot.stage, slot.phase.value, *times, users, window)


def facts(plan: Plan, timetable: Timetable, now: datetime) -> Iterator[tuple[str, str]]:
    """Everything but the timetable, as pairs of a word and a sentence or figure."""
    model = f", model {plan.target.model}" if plan.target.model else ""
    yield "target", f"{plan.target.kind} at {place_of(plan.target)}{model}"
    yield "digest", plan.digest
    measured = format_duration(_measured(timetable))
    most = [f"{timetable.peak_users} users at most"] if timetable.peak_users or not timetable.peak_rate else []
    most += [f"{format_rate(timetable.peak_rate)} at most"] if timetable.peak_rate else []
    yield "load", ", ".join([format_duration(timetable.span), f"{measured} of it measured", *most])
    yield from _in_flight(plan, timetable)
    yield "objectives", ", ".join(criterion.text for criterion in plan.objectives) or "none"
    yield "stop when", ", ".join(rule.text for rule in plan.stop_when) or "never"
    schedule = plan.schedule
    if schedule is None:
        yield "schedule", "none: runs when told to"
        return
    zone = ZoneInfo(schedule.timezone)
    yield "schedule", f"{schedule.cron} in {schedule.timezone}"
    for number, due in enumerate(coming_dues(schedule, now)):
        yield "" if number else "next due", f"{due:%Y-%m-%d %H:%M} UTC ({due.astimezone(zone):%a %Y-%m-%d %H:%M %Z})"
    if not coming_dues(schedule, now):
        yield "next due", "not within a year"


def load_text(slot: Slot) -> str:
    """Users or arrivals a second of a slot, from start to end."""
    arrivals = slot.arrivals
    if arrivals is not None and arrivals.process == "recorded":
        return f"recorded x {arrivals.speed:g}, {format_rate(round(arrivals.end, 3))} on average"
    if arrivals is None:
        ends = [str(slot.users_start), str(slot.users_end)]
    else:
        ends = [format_rate(arrivals.start), format_rate(arrivals.end)]
    text = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    return f"{text} {arrivals.process}" if arrivals is not None and arrivals.process != "constant" else text


def _in_flight(plan: Plan, timetable: Timetable) -> Iterator[tuple[str, str]]:
    """What Little's law says of an open stage's slots: requests under way = rate x mean time of an answer."""
    timeout = plan.workload.timeout / timedelta(seconds=1)
    for stage in plan.stages:
        slots = [slot.arrivals for slot in timetable.slots if slot.stage == stage.name and slot.arrivals is not None]
        peak = max((max(each.start, each.end) for each in slots), default=0.0)
        most = max((each.max_in_flight for each in slots), default=0)
        if peak * timeout > most:
            holds = format_duration(timedelta(microseconds=round(most / peak * 1e6)))
            yield (
                "open loop",
                f"{stage.name}: {most:,} slots take {format_rate(peak)} while an answer takes {holds} or less",
            )
            yield (
                "",
                "on average (Little's law); a slower target fills them, and what finds none is dropped and counted",
            )


def to_json(plan: Plan, now: datetime) -> dict[str, Any]:
    """The same for programs: times in seconds from the start of load, due times in ISO 8601."""
    timetable, schedule = lay_out(plan), plan.schedule
    dues = coming_dues(schedule, now) if schedule else []
    when = {"cron": schedule.cron, "timezone": schedule.timezone} if schedule else None
    return {
        "name": plan.name,
        "digest": plan.digest,
        "target": {"kind": plan.target.kind, "rest": plan.target.rest, "model": plan.target.model}
        | ({"grpc": plan.target.grpc} if plan.target.grpc else {}),
        "span_seconds": _seconds(timetable.span),
        "measured_seconds": _seconds(_measured(timetable)),
        "peak_users": timetable.peak_users,
        "peak_rate": timetable.peak_rate,
        "slots": [_slot(slot) for slot in timetable.slots],
        "objectives": [criterion.text for criterion in plan.objectives],
        "stop_when": [rule.text for rule in plan.stop_when],
        "schedule": when and when | {"next_due": [due.isoformat() for due in dues]},
    }


def _slot(slot: Slot) -> dict[str, Any]:
    return {
        "seq": slot.seq,
        "stage": slot.stage,
        "phase": slot.phase.value,
        "start_seconds": _seconds(slot.start),
        "lasts_seconds": _seconds(slot.lasts),
        "users": [slot.users_start, slot.users_end],
        "arrivals": asdict(slot.arrivals) if slot.arrivals is not None else None,
        "window_seconds": [_seconds(moment) for moment in slot.window] if slot.window else None,
    }


def _measured(timetable: Timetable) -> timedelta:
    windows = [slot.window for slot in timetable.slots if slot.window]
    return sum((end - start for start, end in windows), timedelta(0))


def _seconds(duration: timedelta) -> float:
    return duration / timedelta(seconds=1)
