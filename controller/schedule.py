"""When a plan is due: cron in a time zone, with a stated answer to clock changes, sleep and downtime.

The cron library only lists wall-clock times without a zone; which instants they are is decided here, because
libraries differ in what they do at clock changes. All arithmetic is in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from controller.plan import Schedule

HORIZON = timedelta(days=366)
"""How far ahead a due time is looked for, and how far back missed ones are counted."""

MISSED_LIMIT = 1000
"""About how many missed due times are looked at after a long sleep; older ones are not counted."""

_SECOND = timedelta(seconds=1)
_PROBE = timedelta(hours=12)  # no zone changes its offset twice within this time


class Due(NamedTuple):
    """What a look at the clock found: at most one due time to run now, and those that were missed (all aware UTC)."""

    fire: list[datetime]
    missed: list[datetime]


class _Moment(NamedTuple):
    at: datetime  # aware UTC
    wall: datetime  # naive local time, as the cron expression means it
    due: bool  # False: passed over because of the plan's `gap` or `fold`


def check_cron(expression: str) -> None:
    """Raise `ValueError`, with what is wrong, unless the text is a five-field cron expression that can be met."""
    fields = expression.split()
    if len(fields) != 5:
        raise ValueError(f"{len(fields)} fields instead of 5 (minute, hour, day of month, month, day of week)")
    try:
        next(CronSim(expression, datetime(2000, 1, 1)), None)  # noqa: DTZ001 wall time without a zone
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-", " ")
        raise ValueError(f"the {field} cannot be read or never comes") from error


def next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """The first due time strictly after `after`, both aware UTC; None if there is none within `HORIZON`."""
    _require_utc(after)
    return next((moment.at for moment in _moments(schedule, after, after + HORIZON) if moment.due), None)


def due_runs(schedule: Schedule, last_checked: datetime, now: datetime) -> Due:
    """What became due in `(last_checked, now]`: never more than one run to start, however long nobody looked.

    The newest due time starts a run if it is at most `grace` old, or if the plan says `misfire: run_once`. Every other
    one is missed. A clock that went back (`now` before `last_checked`) makes nothing due: pass the newest time ever
    checked as `last_checked` and no due time fires twice.
    """
    _require_utc(last_checked)
    _require_utc(now)
    dues = [moment.at for moment in _looked_back(schedule, last_checked, now) if moment.due]
    if not dues:
        return Due([], [])
    in_time = now - dues[-1] <= schedule.grace
    if in_time or schedule.misfire == "run_once":
        return Due(dues[-1:], dues[:-1])
    return Due([], dues)


def passed_over(schedule: Schedule, last_checked: datetime, now: datetime) -> list[datetime]:
    """Wall times (naive, in the schedule's zone) in `(last_checked, now]` that `gap` or `fold` left out, for the log."""
    return [moment.wall for moment in _looked_back(schedule, last_checked, now) if not moment.due]


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
    start, fresh = after, after
    while start < until:
        change = _next_change(zone, start, until)
        offset = _offset(zone, start)
        for wall in _walls(schedule.cron, fresh + offset, change + offset):
            at = wall.replace(tzinfo=UTC) - offset
            again = bool(at.astimezone(zone).fold)
            yield _Moment(at, wall, due=not again or schedule.fold == "both")
        if change < until:
            yield from _lost(schedule, change, _wall(change, offset), _wall(change, _offset(zone, change)))
        start, fresh = change, change - _SECOND
    if start == until:
        ...


def _require_utc(moment: datetime) -> None:
    if moment.utcoffset() != timedelta(0):
        raise ValueError(f"{moment!r} is not an aware UTC time")
