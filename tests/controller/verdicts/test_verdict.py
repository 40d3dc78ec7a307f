"""What a run means: each way of passing, failing and not knowing, and the exit code of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.exit_codes import ExitCode
from controller.figures.enough import forecast, more_requests
from controller.figures.measurement import Absent, Measured
from controller.outcome import Outcome
from controller.plans.criterion import Indicator
from controller.plans.plan import Phase
from controller.verdicts.conclusion import Remains, conclude
from controller.verdicts.reasons import ReasonKind, Ruling, worst
from controller.verdicts.record import RunRecord
from controller.verdicts.verdict import exit_code
from tests.controller.loads import ERRORS_1, P99_50, Reporter, a_cell, a_slot, criterion, dice, remains, times

AT_40_MS = [10.0] * 98 + [40.0] * 2


def kinds(record: RunRecord) -> set[ReasonKind]:
    return {reason.kind for reason in record.verdict.reasons}


def a_run(latencies: list[float] = AT_40_MS, seconds: int = 20, errors: int = 0) -> Remains:
    reporter = Reporter()
    reporter.seconds(seconds, a_cell(latencies), a_cell([5.0] * errors, "http_error"))
    return remains(reporter)


def test_well_within_every_limit_is_a_pass_without_a_reason() -> None:
    record = conclude(a_run())
    assert record.verdict.ruling is Ruling.PASS
    assert record.verdict.reasons == ()
    assert record.exit_code is ExitCode.PASS
    p99, errors = record.verdict.objectives
    assert p99.margin == pytest.approx(0.2, abs=0.001)
    assert p99.sentence.startswith("peak @5: p99 is 40.0 ms")
    assert errors.margin == 1.0


def test_beyond_a_limit_with_certainty_is_a_fail_with_the_numbers() -> None:
    record = conclude(a_run([10.0] * 95 + [80.0] * 5))
    assert record.verdict.ruling is Ruling.FAIL
    assert record.exit_code is ExitCode.FAIL
    (reason,) = record.verdict.reasons
    assert reason.kind is ReasonKind.OBJECTIVE_MISSED
    assert "p99 is 80.1 ms" in reason.sentence
    assert "asked is p99 <= 50ms" in reason.sentence
    assert record.verdict.objectives[0].margin == pytest.approx(-0.6, abs=0.002)


def test_a_limit_inside_the_interval_is_inconclusive_and_says_how_much_more() -> None:
    rolls, reporter = dice(2), Reporter()
    for _ in range(20):
        reporter.second(a_cell([10 + rolls.expovariate(1 / 8.5) for _ in range(100)]))
    record = conclude(remains(reporter, objectives=[P99_50]))
    assert record.verdict.ruling is Ruling.INCONCLUSIVE
    assert record.exit_code is ExitCode.INCONCLUSIVE
    (reason,) = record.verdict.reasons
    assert reason.kind is ReasonKind.STRADDLES
    assert "more requests, another" in reason.advice


def test_too_few_requests_are_inconclusive_and_say_how_many_are_needed() -> None:
    record = conclude(a_run([10.0] * 20))
    (reason,) = [reason for reason in record.verdict.reasons if reason.kind is ReasonKind.TOO_FEW]
    assert "insufficient (n=400)" in reason.sentence
    assert "about 600 more requests, another 30 s at this load" in reason.advice
    assert record.verdict.ruling is Ruling.INCONCLUSIVE


def test_only_errors_leave_the_latency_unknown_and_fail_the_ratio() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell([1.0] * 50, "http_error"))
    record = conclude(remains(reporter))
    assert {ReasonKind.UNKNOWN, ReasonKind.OBJECTIVE_MISSED} == kinds(record)
    assert record.verdict.ruling is Ruling.FAIL


def test_when_everything_times_out_the_run_fails_however_few() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell([3000.0], "timeout"))
    record = conclude(remains(reporter, objectives=[P99_50]))
    assert record.verdict.ruling is Ruling.FAIL
    assert ">= 3.00 s" in record.verdict.objectives[0].sentence


def test_a_limit_above_the_timeout_cannot_be_decided() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell([10.0] * 95), a_cell([3000.0] * 5, "timeout"))
    beyond = criterion("p99 <= 5s", Indicator.P99, "<=", 5.0)
    record = conclude(remains(reporter, objectives=[beyond]))
    (reason,) = record.verdict.reasons
    assert reason.kind is ReasonKind.STRADDLES
    assert "raise the workload's timeout" in reason.advice


@pytest.mark.parametrize(("bound", "ruling"), [(100.0, Ruling.PASS), (100.5, Ruling.FAIL)])
def test_throughput_is_counted_and_so_always_decided(bound: float, ruling: Ruling) -> None:
    enough = criterion(f"throughput >= {bound:g}/s", Indicator.THROUGHPUT, ">=", bound)
    record = conclude(replace(a_run(), plan=remains(Reporter(), objectives=[enough]).plan))
    assert record.verdict.ruling is ruling
    margin = record.verdict.objectives[0].margin
    assert margin is not None
    assert (margin >= 0) == (ruling is Ruling.PASS)


def test_objectives_hold_in_every_window() -> None:
    reporter = Reporter()
    slots = [a_slot(0, "climb", 20.0, 0.0), a_slot(1, "climb", 20.0, 20.0)]
    reporter.seconds(20, a_cell(AT_40_MS))
    reporter.seconds(20, a_cell([10.0] * 95 + [80.0] * 5, slot=1))
    record = conclude(remains(reporter, slots))
    assert [record.verdict.of_window(slot) for slot in (0, 1)] == [Ruling.PASS, Ruling.FAIL]
    assert record.verdict.ruling is Ruling.FAIL
    assert len(record.verdict.objectives) == 4


def test_an_objective_on_saturation_makes_the_run_invalid_never_failed() -> None:
    calm = criterion("saturation < 0.2", Indicator.SATURATION, "<", 0.2)
    reporter = Reporter()
    reporter.seconds(20, a_cell(AT_40_MS))
    record = conclude(remains(reporter, objectives=[calm]))
    assert record.verdict.ruling is Ruling.INVALID


def test_without_objectives_nothing_is_decided() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell(AT_40_MS))
    record = conclude(remains(reporter, objectives=[]))
    assert kinds(record) == {ReasonKind.NO_OBJECTIVES}
    assert record.exit_code is ExitCode.INCONCLUSIVE


def test_without_a_steady_stage_nothing_is_measured() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell(AT_40_MS, measured=False))
    record = conclude(remains(reporter, [replace(a_slot(), phase=Phase.WARMUP)]))
    assert kinds(record) == {ReasonKind.NO_WINDOW}
    assert record.windows == ()


@pytest.mark.parametrize(
    "outcome", [Outcome.STOPPED_BY_RULE, Outcome.STOPPED_BY_PERSON, Outcome.CRASHED, Outcome.ABANDONED]
)
def test_a_run_that_ended_early_says_of_which_windows_it_can_speak(outcome: Outcome) -> None:
    reporter = Reporter()
    slots = [a_slot(0, "low", 20.0), a_slot(1, "middle", 20.0, 20.0), a_slot(2, "high", 20.0, 40.0)]
    reporter.seconds(20, a_cell(AT_40_MS))
    reporter.seconds(8, a_cell(AT_40_MS, slot=1))
    happened = {0: times(slots[0]), 1: times(slots[1], 8.0)}
    record = conclude(remains(reporter, slots, happened, outcome=outcome, because="it was over"))
    assert kinds(record) == {ReasonKind.NOT_COMPLETED, ReasonKind.CUT_SHORT, ReasonKind.NOT_REACHED, ReasonKind.TOO_FEW}
    sentences = [reason.sentence for reason in record.verdict.reasons]
    assert "it was over; it can speak only of low @5" in sentences
    assert "middle @5: measured for 8.0 s of 20 s only" in sentences
    assert "high @5: its window of 20 s was not measured" in sentences
    assert record.verdict.of_window(0) is Ruling.PASS


def test_a_fail_stays_a_fail_when_the_run_ended_early() -> None:
    left = a_run([10.0] * 95 + [80.0] * 5)
    record = conclude(replace(left, outcome=Outcome.STOPPED_BY_PERSON, because="stopped by SIGINT"))
    assert record.verdict.ruling is Ruling.FAIL


def test_a_refused_run_measured_nothing() -> None:
    left = remains(Reporter(), happened={}, drained=None, outcome=Outcome.REFUSED, because="no model scorer")
    record = conclude(left)
    assert record.exit_code is ExitCode.TARGET
    assert record.verdict.ruling is Ruling.INCONCLUSIVE
    assert any("it can speak of no window" in reason.sentence for reason in record.verdict.reasons)


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.STOPPED_BY_RULE, ExitCode.STOPPED),
        (Outcome.STOPPED_BY_PERSON, ExitCode.INTERRUPTED),
        (Outcome.CRASHED, ExitCode.BROKEN),
        (Outcome.ABANDONED, ExitCode.BROKEN),
        (Outcome.REFUSED, ExitCode.TARGET),
    ],
)
@pytest.mark.parametrize("ruling", list(Ruling))
def test_how_a_run_ended_comes_before_what_it_means(outcome: Outcome, code: ExitCode, ruling: Ruling) -> None:
    assert exit_code(outcome, replace(conclude(a_run()).verdict, ruling=ruling)) is code


def test_each_ruling_of_a_completed_run_has_its_code() -> None:
    verdict = conclude(a_run()).verdict
    codes = [exit_code(Outcome.COMPLETED, replace(verdict, ruling=ruling)) for ruling in Ruling]
    assert codes == [ExitCode.PASS, ExitCode.INCONCLUSIVE, ExitCode.FAIL, ExitCode.INVALID]


def test_the_gravest_ruling_counts() -> None:
    assert worst([Ruling.FAIL, Ruling.INVALID, Ruling.PASS]) is Ruling.INVALID
    assert worst([Ruling.INCONCLUSIVE, Ruling.FAIL]) is Ruling.FAIL
    assert worst([]) is Ruling.PASS


@pytest.mark.parametrize(
    ("measured", "more"),
    [
        (Measured(0.048, 1000, 0.046, 0.052), 3000),  # the upper end must come twice as near: four times as many
        (Measured(0.052, 1000, 0.049, 0.056), 1250),
        (Measured(0.050, 1000, 0.049, 0.052), None),  # at the limit: never
        (Measured(0.04999, 1000, 0.04, 0.06), None),  # a million times as many
        (Measured(0.048, 1200, 0.046, None), 1200),
        (Absent("insufficient (n=400)", 400), 600),
    ],
)
def test_the_forecast_follows_the_square_root_law(measured: Measured | Absent, more: int | None) -> None:
    assert more_requests(P99_50, measured) == more


def test_advice_where_waiting_does_not_help() -> None:
    (window,) = conclude(a_run()).windows
    stuck = replace(window, indicators={**window.indicators, Indicator.P99: Measured(0.05, 2000, 0.049, 0.051)})
    assert "change the limit" in forecast(P99_50, stuck)
    assert ERRORS_1.operator.holds(0.0, 0.01)


def test_a_run_whose_counts_were_lost_with_its_controller_has_no_windows() -> None:
    left = remains(Reporter(), drained=None, outcome=Outcome.ABANDONED, because="the controller was lost in peak")
    record = conclude(left)
    assert record.windows == ()
    assert kinds(record) == {ReasonKind.NOT_COMPLETED, ReasonKind.NOT_REACHED, ReasonKind.NOT_DRAINED}
    assert record.exit_code is ExitCode.BROKEN


def test_a_slot_that_never_ended_is_measured_to_the_last_report() -> None:
    reporter = Reporter()
    reporter.seconds(12, a_cell(AT_40_MS))
    happened = {0: replace(times(a_slot()), end=None)}
    (window,) = conclude(remains(reporter, happened=happened, outcome=Outcome.CRASHED, because="it broke")).windows
    assert window.seconds == 12.0
    assert window.cut_short
