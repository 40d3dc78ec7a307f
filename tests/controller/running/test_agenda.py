"""The daemon's agenda, look by look."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from controller.plans.plan import Plan, Schedule
from controller.running.agenda import Agenda, look, open_agenda
from tests.controller.builders import a_plan

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
BEFORE = NOON - timedelta(minutes=1)
HOURLY = Schedule(cron="0 * * * *", timezone="UTC")


def scheduled(name: str = "nightly", port: int = 8501, **changes: object) -> Plan:
    plan = a_plan(name=name, schedule=replace(HOURLY, **changes))  # type: ignore[arg-type]
    return replace(plan, target=replace(plan.target, rest=f"http://127.0.0.1:{port}"))


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def agenda(*plans: Plan, seen: datetime = BEFORE) -> Agenda:
    return open_agenda(plans, seen, {})


def test_a_due_plan_starts_once() -> None:
    first = look(agenda(scheduled()), NOON, None)
    assert first.start is not None
    assert first.start.due == NOON
    assert look(first.agenda, NOON + timedelta(seconds=1), None).start is None


def test_a_plan_without_a_schedule_never_starts() -> None:
    assert look(agenda(a_plan()), NOON, None).start is None


def test_a_due_time_slept_through_is_counted_and_said() -> None:
    seen = look(agenda(scheduled()), NOON + minutes(30), None)
    assert seen.start is None
    assert seen.agenda.misfires == {"nightly": 1}
    assert seen.remarks == ("nightly: 1 due time missed: nobody looked in time",)


def test_run_once_makes_up_for_one_due_time_and_counts_the_others() -> None:
    seen = look(agenda(scheduled(misfire="run_once")), NOON + minutes(150), None)
    assert seen.start is not None
    assert seen.start.due == NOON + minutes(120)
    assert seen.agenda.misfires == {"nightly": 2}


def test_the_same_target_is_never_loaded_twice() -> None:
    running = scheduled("other")
    seen = look(agenda(scheduled()), NOON, running)
    assert seen.start is None
    assert seen.agenda.waiting == ()
    assert seen.remarks == ("nightly: 1 due time missed: other holds the target",)


def test_queue_waits_for_the_target_however_long() -> None:
    seen = look(agenda(scheduled(overlap="queue")), NOON, scheduled("other"))
    assert seen.start is None
    later = look(seen.agenda, NOON + minutes(20), None)
    assert later.start is not None
    assert later.start.due == NOON


def test_another_target_waits_its_turn_within_its_grace() -> None:
    seen = look(agenda(scheduled()), NOON, scheduled("other", port=9000))
    assert look(seen.agenda, NOON + timedelta(seconds=30), None).start is not None
    late = look(seen.agenda, NOON + minutes(2), scheduled("other", port=9000))
    assert late.start is None
    assert late.agenda.misfires == {"nightly": 1}


def test_two_plans_due_together_run_one_after_the_other() -> None:
    both = look(agenda(scheduled("a"), scheduled("b", overlap="queue")), NOON, None)
    assert both.start is not None
    assert [entry.plan.name for entry in both.agenda.waiting] == ["b"]


def test_a_clock_that_goes_back_starts_nothing_twice() -> None:
    first = look(agenda(scheduled()), NOON, None)
    back = look(first.agenda, NOON - minutes(30), None)
    assert back.start is None
    assert look(back.agenda, NOON + timedelta(seconds=5), None).start is None


def test_what_was_checked_before_a_restart_counts() -> None:
    restarted = open_agenda((scheduled(misfire="run_once"),), NOON + minutes(5), {"nightly": NOON - minutes(5)})
    assert look(restarted, NOON + minutes(5), None).start is not None


def test_a_wall_time_that_does_not_exist_is_said() -> None:
    spring = datetime(2030, 3, 31, 0, 59, tzinfo=UTC)  # Berlin goes from 02:00 to 03:00 at 01:00 UTC
    gap = Schedule(cron="30 2 * * *", timezone="Europe/Berlin", gap="skip")
    seen = look(open_agenda((a_plan(schedule=gap),), spring, {}), spring + minutes(2), None)
    assert seen.start is None
    assert seen.remarks == ("nightly: not run for 2030-03-31 02:30 local time, which does not exist on this day",)
