"""Windows of open loops: from when latency counts, and whether the schedule was kept, in every direction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from controller.figures import hlog
from controller.figures.measurement import Measured
from controller.orders import ArrivalCell
from controller.plans.arrivals import Arrivals
from controller.plans.criterion import Indicator
from controller.plans.timetable import Slot
from controller.verdicts.conclusion import archive_files, conclude
from controller.verdicts.reasons import ReasonKind, Ruling
from controller.verdicts.record import RunRecord, from_json, to_json
from controller.verdicts.rejudge import rejudge
from controller.verdicts.table import render
from tests.controller.loads import Reporter, a_cell, a_slot, remains

SECONDS = 20
RATE = 100
OPEN = Arrivals(RATE, RATE, SECONDS, max_in_flight=50)


def open_slot(arrivals: Arrivals = OPEN) -> Slot:
    """A steady slot of an open loop."""
    return replace(a_slot(users=0), arrivals=arrivals)


def a_second(
    reporter: Reporter,
    sent_ms: Sequence[float],
    late_ms: float = 0.2,
    dropped: dict[str, int] | None = None,
    due: int | None = None,
) -> None:
    """Requests that took `sent_ms` from their send, all sent `late_ms` after they were due."""
    dropped, late_us = dropped or {}, round(late_ms * 1000)
    number = len(sent_ms)
    came = number + sum(dropped.values()) if due is None else due
    arrivals = ArrivalCell(0, True, came, dropped, {late_us: number}, late_us * number)
    actual, intended = a_cell(sent_ms), a_cell([ms + late_ms for ms in sent_ms])
    reporter.users = 0
    reporter.second(actual, intended=(intended,), arrivals=(arrivals,), rate=float(RATE))


def concluded(reporter: Reporter, arrivals: Arrivals = OPEN) -> RunRecord:
    """The record of a run of that one slot."""
    return conclude(remains(reporter, [open_slot(arrivals)]))


def kinds(record: RunRecord) -> Counter[ReasonKind]:
    """Reasons by kind."""
    return Counter(reason.kind for reason in record.verdict.reasons)


def steady(reporter: Reporter, sent_ms: float = 5.0, **changes: object) -> None:
    """Twenty seconds of the same."""
    for _ in range(SECONDS):
        a_second(reporter, [sent_ms] * RATE, **changes)  # type: ignore[arg-type]


def test_latency_counts_from_the_intended_send_and_the_other_is_kept_beside_it() -> None:
    reporter = Reporter()
    steady(reporter, late_ms=3.0)
    record = concluded(reporter)
    (window,) = record.windows
    assert (window.loop, window.name) == ("open", "peak @100/s")
    judged, sent = window.indicators[Indicator.P99], window.from_send[Indicator.P99]
    assert isinstance(judged, Measured)
    assert isinstance(sent, Measured)
    assert judged.value == pytest.approx(0.008, rel=0.002)
    assert sent.value == pytest.approx(0.005, rel=0.002)
    assert window.punctuality is not None
    assert (window.punctuality.due, window.punctuality.sent) == (2000, 2000)
    assert window.punctuality.lateness_p99 == pytest.approx(0.003, rel=0.002)
    assert record.verdict.ruling is Ruling.PASS
    text = render(record)
    assert "loop: open, latency from the intended send time" in text
    assert "peak @100/s" in text


def test_record_and_histogram_log_bring_the_same_figures_back() -> None:
    reporter = Reporter()
    steady(reporter, late_ms=3.0)
    record = concluded(reporter)
    assert from_json(to_json(record)) == record
    log = archive_files(record, reporter.ledger)["latency.hlog"]
    assert b"Tag=0/measured/ok/intended," in log
    assert b"Tag=0/measured/ok," in log
    assert rejudge(record, hlog.read(log)) == record


def test_requests_that_leave_late_make_the_window_invalid() -> None:
    reporter = Reporter()
    steady(reporter, late_ms=11.0)
    record = concluded(reporter)
    assert kinds(record) == {ReasonKind.BEHIND_SCHEDULE: 1}
    assert record.verdict.ruling is Ruling.INVALID
    assert "behind its schedule" in record.verdict.reasons[0].sentence


def test_the_same_lateness_is_small_beside_long_latencies() -> None:
    reporter = Reporter()
    steady(reporter, sent_ms=400.0, late_ms=11.0)
    assert ReasonKind.BEHIND_SCHEDULE not in kinds(concluded(reporter))


def test_a_target_that_holds_every_slot_is_no_fault_of_the_generator_but_nothing_passes() -> None:
    reporter = Reporter()
    for _ in range(SECONDS):
        a_second(reporter, [5.0] * 90, dropped={"no_slot": 10})
    record = concluded(reporter)
    assert kinds(record) == {ReasonKind.ARRIVALS_DROPPED: 1}
    assert record.verdict.ruling is Ruling.INCONCLUSIVE
    assert "the target held all 50 slots, 10.0 % of 2,000 arrivals" in record.verdict.reasons[0].sentence


def test_a_missed_objective_stays_missed_when_arrivals_were_dropped() -> None:
    reporter = Reporter()
    for _ in range(SECONDS):
        a_second(reporter, [500.0] * 90, dropped={"no_slot": 10})
    assert concluded(reporter).verdict.ruling is Ruling.FAIL


def test_arrivals_without_a_right_to_send_are_the_generators_fault() -> None:
    reporter = Reporter()
    for _ in range(SECONDS):
        a_second(reporter, [5.0] * 99, dropped={"no_lease": 1})
    record = concluded(reporter)
    assert kinds(record) == {ReasonKind.NO_RIGHT_TO_SEND: 1}
    assert record.verdict.ruling is Ruling.INVALID


@pytest.mark.parametrize(("due", "off"), [(100, False), (101, False), (97, True), (103, True)])
def test_another_rate_than_asked_is_invalid(due: int, off: bool) -> None:
    reporter = Reporter()
    for _ in range(SECONDS):
        a_second(reporter, [5.0] * due)
    assert (ReasonKind.RATE_OFF in kinds(concluded(reporter))) is off


def test_chance_may_bring_a_poisson_process_more_or_fewer() -> None:
    reporter = Reporter()
    for _ in range(SECONDS):
        a_second(reporter, [5.0] * 103)
    poisson = replace(OPEN, process="poisson")
    assert ReasonKind.RATE_OFF not in kinds(concluded(reporter, poisson))


def test_an_open_loop_of_which_nothing_ended_is_invalid() -> None:
    reporter = Reporter()
    for _ in range(SECONDS):
        a_second(reporter, [], due=RATE)
    assert ReasonKind.NOTHING_ENDED in kinds(concluded(reporter))
