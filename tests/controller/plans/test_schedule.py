"""When a plan is due: clock changes, sleep, downtime; every answer checked against an independent calculation."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.plans.plan import Schedule
from controller.plans.schedule import HORIZON, PassedOver, check_cron, due_runs, next_due, passed_over

ZONES = sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith(("posix/", "right/")))
NIGHT = Schedule("30 2 * * *", "Europe/Berlin", misfire="run_once", gap="skip", fold="first_only")
SHIFT = Schedule("30 2 * * *", "Europe/Berlin", misfire="skip", gap="run_at_gap_end", fold="both")
HOURLY = Schedule("0 * * * *", "Europe/Berlin", gap="skip", fold="both")
SANTIAGO = Schedule("0 0 * * 0", "America/Santiago", gap="run_at_gap_end", fold="first_only")
LORD_HOWE = Schedule("15 2 * * *", "Australia/Lord_Howe", gap="skip", fold="first_only")  # moves by half an hour


def utc(text: str) -> datetime:
    """`2026-10-25 00:30` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def chain(schedule: Schedule, after: datetime, count: int) -> list[str]:
    """The next due times, each found from the one before."""
    dues: list[datetime] = []
    while len(dues) < count:
        due = next_due(schedule, dues[-1] if dues else after)
        assert due is not None
        dues.append(due)
    return [f"{due:%Y-%m-%d %H:%M}" for due in dues]


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        (NIGHT, "2026-10-23 12:00", ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]),
        (NIGHT, "2027-03-26 12:00", ["2027-03-27 01:30", "2027-03-29 00:30"]),
        (SHIFT, "2026-10-24 12:00", ["2026-10-25 00:30", "2026-10-25 01:30", "2026-10-26 01:30"]),
        (SHIFT, "2027-03-26 12:00", ["2027-03-27 01:30", "2027-03-28 01:00", "2027-03-29 00:30"]),
        (HOURLY, "2026-10-24 21:59", [f"2026-10-{24 + (h > 23)} {h % 24:02}:00" for h in range(22, 27)]),
        (HOURLY, "2027-03-27 22:59", ["2027-03-27 23:00", "2027-03-28 00:00", "2027-03-28 01:00", "2027-03-28 02:00"]),
        (SANTIAGO, "2026-08-29 12:00", ["2026-08-30 04:00", "2026-09-06 04:00", "2026-09-13 03:00"]),
        (LORD_HOWE, "2026-10-02 12:00", ["2026-10-02 15:45", "2026-10-04 15:15"]),
        (LORD_HOWE, "2027-04-02 12:00", ["2027-04-02 15:15", "2027-04-03 15:45", "2027-04-04 15:45"]),
        (Schedule("30 2 * * *", "UTC"), "2026-10-24 00:00", ["2026-10-24 02:30", "2026-10-25 02:30"]),
        (Schedule("*/30 * * * *", "Europe/Berlin"), "2027-03-28 00:15", ["2027-03-28 00:30", "2027-03-28 01:00"]),
        (Schedule("*/20 1-3 * * *", "Europe/Berlin"), "2027-03-28 00:45", ["2027-03-28 01:00", "2027-03-28 01:20"]),
        (Schedule("0 12 30 12 *", "Pacific/Apia"), "2011-12-01 00:00", ["2011-12-30 10:00", "2012-12-29 22:00"]),
    ],
)
def test_due_times_follow_the_wall_clock_across_clock_changes(
    schedule: Schedule, after: str, expected: list[str]
) -> None:
    assert chain(schedule, utc(after), len(expected)) == expected


def test_a_due_time_is_strictly_later_than_the_moment_asked_about() -> None:
    due = utc("2026-10-25 00:30")
    assert next_due(NIGHT, due - timedelta(microseconds=1)) == due
    assert next_due(NIGHT, due) == utc("2026-10-26 01:30")
    assert next_due(NIGHT, due + timedelta(microseconds=1)) == utc("2026-10-26 01:30")


def test_a_moment_inside_the_repeated_hour_knows_which_hour_it_is() -> None:
    first, second = utc("2026-10-25 00:10"), utc("2026-10-25 01:10")
    assert next_due(NIGHT, first) == utc("2026-10-25 00:30")
    assert next_due(NIGHT, second) == utc("2026-10-26 01:30")
    assert next_due(SHIFT, second) == utc("2026-10-25 01:30")


def test_what_gap_and_fold_leave_out_is_told() -> None:
    year = (NIGHT, utc("2026-09-01 00:00"), utc("2027-08-31 00:00"))
    assert passed_over(*year) == [
        PassedOver(datetime(2026, 10, 25, 2, 30), "fold"),  # noqa: DTZ001 a wall time
        PassedOver(datetime(2027, 3, 28, 2, 30), "gap"),  # noqa: DTZ001 a wall time
    ]
    assert passed_over(replace(NIGHT, gap="run_at_gap_end", fold="both"), *year[1:]) == []


def test_nothing_is_due_further_ahead_than_a_year() -> None:
    leap = Schedule("0 0 29 2 *", "UTC")
    assert next_due(leap, utc("2025-01-01 00:00")) is None
    assert next_due(leap, utc("2027-06-01 00:00")) == utc("2028-02-29 00:00")


def test_after_a_sleep_one_run_starts_or_none_and_every_miss_is_counted() -> None:
    asleep, awake = utc("2026-10-25 00:10"), utc("2026-10-25 03:10")
    assert due_runs(NIGHT, asleep, awake) == ([utc("2026-10-25 00:30")], [])
    assert due_runs(HOURLY, asleep, awake) == ([], [utc(f"2026-10-25 0{hour}:00") for hour in (1, 2, 3)])
    assert due_runs(SHIFT, asleep, awake) == ([], [utc("2026-10-25 00:30"), utc("2026-10-25 01:30")])
    assert next_due(HOURLY, awake) == utc("2026-10-25 04:00")


def test_the_end_of_a_gap_is_one_due_time_even_if_the_expression_names_it_too() -> None:
    half_hourly = Schedule("*/30 * * * *", "Europe/Berlin", gap="run_at_gap_end")
    due = due_runs(half_hourly, utc("2027-03-28 00:15"), utc("2027-03-28 01:45"))
    assert due.missed == [utc("2027-03-28 00:30"), utc("2027-03-28 01:00"), utc("2027-03-28 01:30")]


def test_grace_is_the_latest_start_that_is_not_a_miss() -> None:
    due = utc("2026-06-01 00:00")
    schedule = Schedule("0 0 * * *", "UTC", grace=timedelta(minutes=5))
    before = due - timedelta(hours=1)
    assert due_runs(schedule, before, due + timedelta(minutes=5)) == ([due], [])
    assert due_runs(schedule, before, due + timedelta(minutes=5, microseconds=1)) == ([], [due])
    assert due_runs(schedule, before, due - timedelta(seconds=1)) == ([], [])


def test_several_due_times_within_the_grace_start_one_run() -> None:
    schedule = Schedule("* * * * *", "UTC", grace=timedelta(minutes=10))
    due = due_runs(schedule, utc("2026-06-01 00:00"), utc("2026-06-01 00:03"))
    assert due.fire == [utc("2026-06-01 00:03")]
    assert due.missed == [utc("2026-06-01 00:01"), utc("2026-06-01 00:02")]


def test_a_clock_that_goes_back_starts_nothing_twice() -> None:
    due = utc("2026-10-26 01:30")
    checked = due + timedelta(seconds=5)
    assert due_runs(NIGHT, due - timedelta(seconds=1), checked).fire == [due]
    stepped = checked - timedelta(seconds=90)
    assert due_runs(NIGHT, checked, stepped) == ([], [])
    assert due_runs(NIGHT, checked, checked + timedelta(seconds=1)) == ([], [])


def test_looking_at_the_clock_often_finds_every_due_time_once() -> None:
    now, end = utc("2026-10-24 20:00"), utc("2026-10-25 06:00")
    found: list[datetime] = []
    while now < end:
        later = now + timedelta(seconds=47)
        found += due_runs(HOURLY, now, later).fire
        now = later
    assert found == [utc("2026-10-24 21:00") + timedelta(hours=hour) for hour in range(10)]


def test_years_of_downtime_are_answered_quickly_and_within_bounds() -> None:
    minutely = Schedule("* * * * *", "Europe/Berlin", misfire="run_once")
    started = time.process_time()
    due = due_runs(minutely, utc("2016-01-01 00:00"), utc("2026-01-01 00:00"))
    assert time.process_time() - started < 2
    assert due.fire == [utc("2026-01-01 00:00")]
    assert 1000 <= len(due.missed) <= 6000
    monthly = Schedule("0 3 1 * *", "Europe/Berlin")
    assert len(due_runs(monthly, utc("2016-01-01 00:00"), utc("2026-01-01 00:00")).missed) == 12


@pytest.mark.parametrize("moment", [datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))])  # noqa: DTZ001
def test_only_utc_is_accepted(moment: datetime) -> None:
    with pytest.raises(ValueError, match="is not an aware UTC time"):
        next_due(NIGHT, moment)


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("30 2 * *", "it has 4 fields instead of 5"),
        ("@daily", "it has 1 field instead of 5"),
        ("60 2 * * *", "its minute cannot be read or never comes"),
        ("0 0 31 4 *", "its day of month cannot be read or never comes"),
        ("0 24 * * *", "its hour cannot be read or never comes"),
        ("0 0 * 13 *", "its month cannot be read or never comes"),
        ("0 0 * * MOON", "its day of week cannot be read or never comes"),
        ("*/61 * * * *", "a step of 61 is longer than the whole minute field and would act as 60"),
        ("0 */25 * * *", "a step of 25 is longer than the whole hour field and would act as 24"),
    ],
)
def test_an_expression_that_cannot_be_met_is_refused_with_the_field(expression: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        check_cron(expression)


@given(
    st.text("0123456789*/,-#LWMONJA ", max_size=30) | st.lists(st.text("0123456789*/,-#L", max_size=6)).map(" ".join)
)
@settings(deadline=None)
def test_any_text_is_either_met_or_refused_in_words(expression: str) -> None:
    try:
        check_cron(expression)
    except ValueError:
        return
    next_due(Schedule(expression, "Europe/Berlin"), utc("2026-01-01 00:00"))


Gap = Literal["skip", "run_at_gap_end"]
Fold = Literal["first_only", "both"]
GAPS: st.SearchStrategy[Gap] = st.sampled_from(("skip", "run_at_gap_end"))
FOLDS: st.SearchStrategy[Fold] = st.sampled_from(("first_only", "both"))


def expected_dues(schedule: Schedule, minute: int, hour: int, after: datetime, until: datetime) -> list[datetime]:
    """Every day's due instants from zoneinfo's own rules for gaps and folds, one wall time at a time."""
    zone = ZoneInfo(schedule.timezone)
    dues: set[datetime] = set()
    day = (after - timedelta(days=3)).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    while day < until.replace(tzinfo=None) + timedelta(days=3):
        wall = day.replace(hour=hour, minute=minute)
        first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if first > second:  # a gap: the offset before it puts the wall time after the change, and the other way round
            if schedule.gap == "run_at_gap_end":
                dues.add(gap_end(zone, second, first))
        else:
            dues.add(first)
            if schedule.fold == "both":
                dues.add(second)
        day += timedelta(days=1)
    return sorted(due for due in dues if after < due <= until)


def gap_end(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """The instant between two at which the zone's offset changes, by halving."""
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high


@given(
    st.sampled_from(ZONES),
    st.integers(0, 59),
    st.integers(0, 23),
    GAPS,
    FOLDS,
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001 hypothesis wants them so
)
@settings(deadline=None, max_examples=60)
def test_a_year_of_a_daily_schedule_agrees_with_zoneinfo_in_every_zone(
    zone: str, minute: int, hour: int, gap: Gap, fold: Fold, start: datetime
) -> None:
    schedule = replace(Schedule(f"{minute} {hour} * * *", zone), gap=gap, fold=fold)
    after = start.replace(tzinfo=UTC)
    found: list[datetime] = []
    while (due := next_due(schedule, found[-1] if found else after)) is not None and due <= after + HORIZON:
        assert due > (found[-1] if found else after)
        found.append(due)
    assert found == expected_dues(schedule, minute, hour, after, after + HORIZON)
