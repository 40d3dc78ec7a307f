"""The loop of a run on rehearsal edges: real loop, real lifecycle, virtual time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from controller.edges.rehearsal import RehearsalClock, RehearsalProbe
from controller.edges.rehearsal_generator import Faults, RehearsalGenerator
from controller.edges.rehearsal_load import Answers
from controller.orders import Drain, Lease, Order
from controller.outcome import Outcome
from controller.plans.criterion import Criterion, Indicator, Operator, StopRule
from controller.ports import Finding
from controller.running.rehearsing import Rehearsal, rehearse, set_up
from tests.controller.builders import a_plan, seconds

ANY_ERRORS = StopRule(
    "error_ratio > 20% for 5s", Criterion("error_ratio > 20%", Indicator.ERROR_RATIO, Operator.GT, 0.2), seconds(5)
)


def faulty(**faults: Any) -> Rehearsal:
    return set_up(a_plan(), RehearsalGenerator(RehearsalClock(), faults=Faults(**faults)))


def failing(clock: float, users: int) -> Answers:
    return Answers(0.01, error_ratio=0.5 if clock > 10 else 0.0)


def test_a_rehearsed_run_completes_and_leaves_nothing_open() -> None:
    rehearsal = rehearse(a_plan())
    assert rehearsal.ended.outcome is Outcome.COMPLETED
    assert not rehearsal.generator.alive()
    assert rehearsal.annotator.open_regions() == []
    assert [region.seq for region in rehearsal.annotator.regions.values()] == [0, 1, 2]


def test_slots_take_effect_within_fifty_milliseconds_of_the_timetable() -> None:
    rehearsal = rehearse(a_plan())
    slots = rehearsal.loop.chronicle.slots
    lengths = [(slot.end or 0) - slot.start for slot in slots.values()]
    assert lengths[:2] == pytest.approx([5, 20], abs=0.05)
    assert (slots[1].window_start or 0) - slots[1].start == pytest.approx(5, abs=0.05)


def test_every_request_is_in_the_ledger_and_in_the_totals() -> None:
    rehearsal = rehearse(a_plan())
    drained = rehearsal.loop.drained
    assert drained is not None
    assert sum(drained.totals.values()) > 1000
    assert {k: v for k, v in rehearsal.loop.ledger.totals.items() if v} == dict(drained.totals)


def test_leases_are_renewed_every_second_while_load_is_on() -> None:
    leases = [command for command in rehearse(a_plan()).generator.commands if isinstance(command, Lease)]
    gaps = [later.at - earlier.at for earlier, later in pairwise(leases)]
    assert max(gaps) <= 1.1
    assert len(leases) >= 25


def test_each_action_is_journaled_before_it_is_done() -> None:
    rehearsal = rehearse(a_plan())
    given = [entry["order"]["number"] for _, entry in rehearsal.entries if entry["action"] == "Give"]
    obeyed = [command.number for command in rehearsal.generator.commands if isinstance(command, Order)]
    assert given == obeyed


def test_a_stop_rule_ends_the_run_with_a_drain() -> None:
    generator = RehearsalGenerator(RehearsalClock(), behaviour=failing)
    rehearsal = set_up(a_plan(stop_when=(ANY_ERRORS,)), generator)
    rehearsal.loop.run()
    assert rehearsal.ended.outcome is Outcome.STOPPED_BY_RULE
    assert 15 < rehearsal.clock.monotonic() < 20
    assert any(isinstance(command, Drain) for command in generator.commands)


def test_a_person_can_stop_it_and_the_figures_so_far_are_kept() -> None:
    rehearsal = set_up(a_plan())
    rehearsal.clock.at(12, lambda: rehearsal.loop.stop.ask("SIGINT"))
    rehearsal.loop.run()
    assert rehearsal.ended == type(rehearsal.ended)(Outcome.STOPPED_BY_PERSON, "stopped by SIGINT")
    assert rehearsal.loop.drained is not None
    assert rehearsal.annotator.open_regions() == []


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        ({"cannot_start": "no such program"}, "no such program"),
        ({"dies_at": 8.0}, "the generator ended by itself"),
        ({"never_says_hello": True}, "did not come up"),
        ({"never_acks": frozenset({2})}, "did not answer order 2"),
        ({"never_drains": True}, "did not finish its drain"),
    ],
)
def test_a_generator_that_fails_is_a_crash_with_its_reason(faults: dict[str, Any], reason: str) -> None:
    rehearsal = faulty(**faults)
    rehearsal.loop.run()
    assert rehearsal.ended.outcome is Outcome.CRASHED
    assert reason in rehearsal.ended.reason
    assert rehearsal.annotator.open_regions() == []
    assert not rehearsal.generator.alive()


def test_a_lost_worker_is_noted_and_the_run_goes_on() -> None:
    rehearsal = set_up(a_plan(workers=2), RehearsalGenerator(RehearsalClock(), faults=Faults(loses_worker_at=12.0)))
    rehearsal.loop.run()
    assert rehearsal.ended.outcome is Outcome.COMPLETED
    assert rehearsal.loop.chronicle.notes == ["worker 1 was lost"]


def test_an_unusable_target_is_refused_with_every_reason() -> None:
    bad = (Finding("health", False, "Nothing listens."), Finding("model", False, "No such model."))
    rehearsal = set_up(a_plan(), probe=RehearsalProbe(findings=bad))
    rehearsal.loop.run()
    assert rehearsal.ended.outcome is Outcome.REFUSED
    assert rehearsal.ended.reason == "Nothing listens. No such model."
    assert rehearsal.entries == []


def test_a_grafana_that_is_down_delays_nothing() -> None:
    rehearsal = set_up(a_plan())
    rehearsal.annotator.down = True
    rehearsal.loop.run()
    assert rehearsal.ended.outcome is Outcome.COMPLETED
    assert rehearsal.annotator.pending() == 3
