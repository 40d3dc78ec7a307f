"""When a plan is due: cron in a time zone, with a stated answer to clock changes, sleep and downtime.

The cron library only lists wall-clock times without a zone; which instants they are is decided here, because
libraries differ in what they do at clock changes. All arithmetic is in UTC.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from controller.plans.plan import Schedule

HORIZON = timedelta(days=366)
"""How far ahead a due time is looked for, and how far back missed ones are counted."""

MISSED_LIMIT = 1000
"""About how many missed due times are looked at after a long sleep; older ones are not counted."""

_LONGEST_STEP = {"minute": 60, "hour": 24, "day of month": 31, "month": 12, "day of week": 7}
_SECOND = timedelta(seconds=1)
_NEAR = timedelta(days=2)
_PROBE = 12 * 3600  # seconds within which no zone changes its offset twice


class Due(NamedTuple):
    """What a look at the clock found: at most one due time to run now, and those that were missed (all aware UTC)."""

    fire: list[datetime]
    missed: list[datetime]


class PassedOver(NamedTuple):
    """A wall time (naive, in the schedule's zone) that did not count: it does not exist, or it came a second time."""

    wall: datetime
    why: Literal["gap", "fold"]


class _Moment(NamedTuple):
    at: datetime  # aware UTC
    wall: datetime  # naive local time, as the cron expression means it
    passed_over: Literal["gap", "fold"] | None = None


def check_cron(expression: str) -> None:
    """Raise `ValueError`, with what is wrong, unless the text is a five-field cron expression that can be met."""
    fields = expression.split()
    if len(fields) != 5:
        found = f"it has {len(fields)} field{'s' * (len(fields) != 1)}"
        raise ValueError(f"{found} instead of 5 (minute, hour, day of month, month, day of week)")
    for field, (name, most) in zip(fields, _LONGEST_STEP.items(), strict=True):
        for step in re.findall(r"/([0-9]{1,9})", field):
            if int(step) > most:
                raise ValueError(f"a step of {step} is longer than the whole {name} field and would act as {most}")
    try:
        next(CronSim(expression, datetime(2000, 1, 1)), None)  # noqa: DTZ001 wall time without a zone
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-", " ")
        raise ValueError(f"its {field} cannot be read or never comes") from error


def next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """The first due time strictly after `after`, both aware UTC; None if there is none within `HORIZON`."""
    _require_utc(after)
    for reach in (_NEAR, HORIZON):  # most plans are due soon, and then a year's clock changes are nobody's business
        for moment in _moments(schedule, after, after + reach):
            if moment.passed_over is None:
                return moment.at
    return None


def due_runs(schedule: Schedule, last_checked: datetime, now: datetime) -> Due:
    """What became due in `(last_checked, now]`: never more than one run to start, however long nobody looked.

    The newest due time starts a run if it is at most `grace` old, or if the plan says `misfire: run_once`. Every other
    one is missed. A clock that went back (`now` before `last_checked`) makes nothing due: pass the newest time ever
    checked as `last_checked` and no due time fires twice.
    """
    _require_utc(last_checked)
    _require_utc(now)
    dues = [moment.at for moment in _looked_back(schedule, last_checked, now) if moment.passed_over is None]
    if not dues:
        return Due([], [])
    in_time = now - dues[-1] <= schedule.grace
    if in_time or schedule.misfire == "run_once":
        return Due(dues[-1:], dues[:-1])
    return Due([], dues)


def passed_over(schedule: Schedule, last_checked: datetime, now: datetime) -> list[PassedOver]:
    """What the plan's `gap` and `fold` left out in `(last_checked, now]`: for the log, since nothing runs for it."""
    moments = _looked_back(schedule, last_checked, now)
    return [PassedOver(moment.wall, moment.passed_over) for moment in moments if moment.passed_over is not None]


def _looked_back(schedule: Schedule, last_checked: datetime, now: datetime) -> list[_Moment]:
    span, whole = timedelta(hours=1), min(now - last_checked, HORIZON)
    while True:
        moments = list(_moments(schedule, now - min(span, whole), now))
        if span >= whole or len(moments) >= MISSED_LIMIT:
            return moments
        span *= 4


def _moments(schedule: Schedule, after: datetime, until: datetime) -> Iterator[_Moment]:
    """Everything the expression names in `(after, until]`, in order: one stretch of constant UTC offset at a time."""
    zone = ZoneInfo(schedule.timezone)
    start, done = after, after  # of the stretch; of what was listed
    while start < until:
        offset = _offset(zone, start)
        change = _next_change(zone, start, until)
        for wall in _walls(schedule.cron, done + offset, change + offset):
            at = wall.replace(tzinfo=UTC) - offset
            again = at.astimezone(zone).fold == 1
            yield _Moment(at, wall, "fold" if again and schedule.fold == "first_only" else None)
        start, done = change, change - _SECOND
        lost = list(_walls(schedule.cron, done + offset, change + _offset(zone, change)))
        if change <= until and lost and schedule.gap == "run_at_gap_end":
            yield _Moment(change, lost[0])
            done = change
        elif change <= until:
            yield from (_Moment(change, wall, "gap") for wall in lost)


def _walls(cron: str, after: datetime, before: datetime) -> Iterator[datetime]:
    """Wall times of the expression strictly between two moments whose fields are read as wall time."""
    listed = CronSim(cron, after.replace(tzinfo=None))
    return takewhile(before.replace(tzinfo=None).__gt__, listed)


def _next_change(zone: ZoneInfo, start: datetime, until: datetime) -> datetime:
    """When the zone's UTC offset changes next in `(start, until]`, to the second; just after `until` if it does not."""
    offset, origin = _offset(zone, start), start.replace(microsecond=0)

    def changed(seconds: int) -> bool:
        return _offset(zone, origin + _SECOND * seconds) != offset

    last = int((until - origin).total_seconds())
    for low in range(0, last, _PROBE):
        high = min(low + _PROBE, last)
        if changed(high):
            return origin + _SECOND * bisect_left(range(high), True, lo=low, key=changed)
    return until + timedelta(microseconds=1)


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)


def _require_utc(moment: datetime) -> None:
    if moment.utcoffset() != timedelta(0):
        raise ValueError(f"{moment!r} is not an aware UTC time")
