"""Every rule about the instrument: what breaks it, what just does not, and that it never makes a run fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from controller.exit_codes import ExitCode
from controller.orders import WorkerHealth
from controller.verdicts.conclusion import Remains, conclude
from controller.verdicts.reasons import Reason, ReasonKind, Ruling
from controller.verdicts.validity import RULES
from tests.controller.loads import HEALTHY, Reporter, a_cell, a_slot, remains, times

GOOD = a_cell([10.0] * 100)
BAD = a_cell([80.0] * 100)
HOT = (WorkerHealth("worker-0", 5, 0.2, {"cpu": 1.04, "loop_lag": 0.4}),)
MUTE = (WorkerHealth("worker-0", 5, 0.2, {}),)
STALE = (WorkerHealth("worker-0", 5, 3.4, {"cpu": 0.4}),)


def a_window(*special: Callable[[Reporter], None], length: int = 40) -> Remains:
    """A window of good seconds, some of them replaced by special ones."""
    reporter = Reporter()
    for number in range(length):
        if number < len(special):
            special[number](reporter)
        else:
            reporter.second(GOOD)
    return remains(reporter, [a_slot(length=float(length))])


def health(workers: tuple[WorkerHealth, ...]) -> Callable[[Reporter], None]:
    return lambda reporter: void(reporter.second(GOOD, workers=workers))


def void(_interval: object) -> None:
    """A special second returns nothing."""


def gap(seconds: float) -> Callable[[Reporter], None]:
    def jump(reporter: Reporter) -> None:
        reporter.second(GOOD, length=1.0)
        reporter.now += seconds

    return jump


def users(number: int) -> Callable[[Reporter], None]:
    return lambda reporter: void(reporter.second(GOOD, users=number))


def lost_inside(number: int) -> Callable[[Reporter], None]:
    return lambda reporter: void(reporter.second(GOOD, a_cell([1.0] * number, "generator_error")))


CALM = health(HEALTHY)
TWICE = [*[health(HOT)] * 3, *[CALM] * 10, *[health(HOT)] * 3]
"""Two stretches: one is cut out, what remains is disturbed for 3 of 34 s."""

CASES: list[tuple[ReasonKind, list[Callable[[Reporter], None]], list[Callable[[Reporter], None]]]] = [
    (ReasonKind.SATURATED, TWICE, [health(HOT)] * 2),  # 15 % and 5 % of the window
    (ReasonKind.HEALTH_UNKNOWN, [health(MUTE)] * 3, [health(MUTE)] * 2),
    (ReasonKind.WORKER_LOST, [health(STALE)], [health(HEALTHY)]),
    (ReasonKind.WORKER_LOST, [health(())], [health((*HEALTHY, replace(HEALTHY[0], worker="worker-1")))]),
    (ReasonKind.REPORTS_LOST, [gap(0.8)], [gap(0.4)]),
    (ReasonKind.USERS_SHORT, [users(4)] * 3, [users(4)] * 2),
    (ReasonKind.USERS_SHORT, [users(6)] * 3, [users(5)] * 40),
    (ReasonKind.GENERATOR_ERRORS, [lost_inside(5)], [lost_inside(4)]),  # of 4,004 requests
]


@pytest.mark.parametrize(("kind", "broken", "fine"), CASES)
def test_a_rule_breaks_beyond_its_number_and_not_at_it(
    kind: ReasonKind, broken: list[Callable[[Reporter], None]], fine: list[Callable[[Reporter], None]]
) -> None:
    record = conclude(a_window(*broken))
    assert kind in {reason.kind for reason in record.verdict.reasons}
    assert record.verdict.ruling is Ruling.INVALID
    assert record.exit_code is ExitCode.INVALID
    assert conclude(a_window(*fine)).verdict.ruling is Ruling.PASS


def test_saturation_is_told_with_signal_worker_and_time() -> None:
    (reason,) = conclude(a_window(*[health(HOT)] * 10)).verdict.reasons
    assert reason.sentence == (
        "peak @5: the generator was at its own limit for 10 s of 40 s: its processor time was used up: cpu of worker-0 "
        "from 00:00:00 to 00:00:10 UTC (10 s, 25 % of the window, at most 1.04 times its limit of 95.0 %)"
    )
    assert "more workers" in reason.advice


def test_a_saturated_generator_makes_a_missed_objective_invalid_never_failed() -> None:
    reporter = Reporter()
    reporter.seconds(40, BAD, workers=HOT)
    record = conclude(remains(reporter, [a_slot(length=40.0)]))
    assert record.verdict.ruling is Ruling.INVALID
    rulings = {result.objective: result.ruling for result in record.verdict.objectives}
    assert rulings == {"p99 <= 50ms": Ruling.INVALID, "error_ratio < 1%": Ruling.INVALID}
    assert Ruling.FAIL not in {reason.ruling for reason in record.verdict.reasons}
    assert "cannot be trusted" in record.verdict.objectives[0].sentence


def test_a_disturbance_in_one_window_leaves_the_others_trusted() -> None:
    reporter = Reporter()
    reporter.seconds(20, GOOD, workers=HOT)
    reporter.seconds(20, replace(BAD, slot=1))
    slots = [a_slot(0, "climb", 20.0), a_slot(1, "peak", 20.0, 20.0)]
    record = conclude(remains(reporter, slots))
    assert [record.verdict.of_window(slot) for slot in (0, 1)] == [Ruling.INVALID, Ruling.FAIL]
    assert {reason.ruling for reason in record.verdict.reasons} == {Ruling.INVALID, Ruling.FAIL}  # every reason is kept
    assert record.verdict.ruling is Ruling.INVALID


def test_a_window_in_which_nothing_ended_is_invalid() -> None:
    reporter = Reporter()
    reporter.seconds(20, in_flight=5)
    record = conclude(remains(reporter))
    assert ReasonKind.NOTHING_ENDED in {reason.kind for reason in record.verdict.reasons}
    assert record.verdict.ruling is Ruling.INVALID
    assert record.windows[0].health.stalled_seconds == 20.0


def test_a_window_without_reports_is_invalid() -> None:
    reporter = Reporter()
    reporter.seconds(20, GOOD)
    slot = a_slot(1, start=20.0)
    record = conclude(remains(reporter, [a_slot(), slot], {0: times(a_slot()), 1: times(slot)}))
    kinds = {reason.kind for reason in record.verdict.reasons if reason.slot == 1}
    assert {ReasonKind.HEALTH_UNKNOWN, ReasonKind.REPORTS_LOST, ReasonKind.NOTHING_ENDED} <= kinds


def test_reports_that_cease_before_the_window_ends_are_missed() -> None:
    reporter = Reporter()
    reporter.seconds(17, GOOD)
    record = conclude(remains(reporter))
    assert record.windows[0].health.missing_seconds == pytest.approx(3.0)
    assert ReasonKind.REPORTS_LOST in {reason.kind for reason in record.verdict.reasons}


def books(**changes: object) -> list[Reason]:
    left = a_window()
    drained = left.drained
    assert drained is not None
    return list(conclude(replace(left, drained=replace(drained, **changes))).verdict.reasons)  # type: ignore[arg-type]


def test_totals_must_be_the_sum_of_the_reports() -> None:
    (reason,) = books(totals={"ok": 4001})
    assert reason.kind is ReasonKind.TOTALS_DIFFER
    assert reason.ruling is Ruling.INVALID
    assert "ok: 4,000 reported, 4,001 in total" in reason.sentence


def test_aborted_requests_may_be_in_the_final_totals_only() -> None:
    assert books(totals={"ok": 4000, "generator_error": 3}, aborted=3, started=4003) == []
    assert books(totals={"ok": 4000, "generator_error": 4}, aborted=3, started=4004) != []


def test_the_running_count_must_be_reached_by_the_details() -> None:
    left = a_window()
    left.ledger.reported += 7
    (reason,) = conclude(left).verdict.reasons
    assert reason.kind is ReasonKind.TOTALS_DIFFER
    assert "4,000 reported in detail, 4,007 by its running count" in reason.sentence


def test_without_final_totals_nothing_is_proven() -> None:
    record = conclude(replace(a_window(), drained=None))
    (reason,) = record.verdict.reasons
    assert (reason.kind, reason.ruling) == (ReasonKind.NOT_DRAINED, Ruling.INCONCLUSIVE)
    assert record.verdict.ruling is Ruling.INCONCLUSIVE


def test_every_rule_says_its_number_and_every_reason_what_to_do() -> None:
    assert all(rule.__doc__ for rule in RULES)
    for _, broken, _ in CASES:
        for reason in conclude(a_window(*broken)).verdict.reasons:
            assert reason.advice
            assert reason.sentence.startswith("peak @5: ")
