"""What is cut out of a disturbed window, what is never cut, and that nothing of the disturbance is left."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from controller.figures import hlog
from controller.figures.cutting import GUARD_AFTER, GUARD_BEFORE
from controller.figures.measurement import Measured
from controller.figures.window import Window
from controller.orders import Cell, WorkerHealth
from controller.plans.criterion import Indicator
from controller.verdicts.conclusion import archive_files, conclude
from controller.verdicts.reasons import ReasonKind, Ruling
from controller.verdicts.record import RunRecord, from_json, to_json
from controller.verdicts.rejudge import rejudge
from tests.controller.loads import HEALTHY, T0, Reporter, a_cell, a_slot, remains

HOT = (WorkerHealth("worker-1", 5, 0.2, {"cpu": 1.3, "loop_lag": 0.4}),)
GOOD = a_cell([10.0] * 100)
SLOW = a_cell([500.0] * 20)


def judged(reporter: Reporter, length: float = 60.0) -> RunRecord:
    return conclude(remains(reporter, [a_slot(length=length)]))


def disturbed(before: int = 20, hot: int = 5, after: int = 35, slow: Cell = SLOW) -> Reporter:
    reporter = Reporter()
    reporter.seconds(before, GOOD)
    reporter.seconds(hot, slow, workers=HOT)
    reporter.seconds(after, GOOD)
    return reporter


def p99(window: Window) -> float:
    found = window.indicators[Indicator.P99]
    assert isinstance(found, Measured)
    return found.value


def test_one_stretch_is_cut_and_the_figures_are_those_of_the_rest() -> None:
    record = judged(disturbed())
    (window,) = record.windows
    assert window.cut is not None
    cut = (window.cut.start.timestamp() - T0, window.cut.end.timestamp() - T0, window.cut.seconds)
    assert cut == (20 - GUARD_BEFORE, 25 + GUARD_AFTER, 8.0)
    assert (window.seconds, window.lasted) == (52.0, 60.0)
    assert window.outcomes["ok"] == 5200
    assert p99(window) == pytest.approx(0.010, rel=0.01)
    assert window.health.saturated_seconds == 0
    assert record.verdict.ruling is Ruling.PASS
    assert not window.cut_short
    assert window.remarks == ("peak @5: measured over 52 of 60 s; cut 00:00:19 to 00:00:27 UTC: cpu of worker-1",)
    throughput = window.indicators[Indicator.THROUGHPUT]
    assert isinstance(throughput, Measured)
    assert (throughput.value, throughput.censored) == (100.0, False)
    (one,) = window.disturbances
    assert (one.signal, one.worker, one.seconds, one.worst) == ("cpu", "worker-1", 5.0, 1.3)
    assert one.share == pytest.approx(5 / 60)


def test_the_archive_judged_again_has_the_same_figures() -> None:
    reporter = disturbed()
    record = judged(reporter)
    files = archive_files(record, reporter.ledger)
    again = rejudge(from_json(files["record.json"]), hlog.read(files["latency.hlog"]))
    assert to_json(again) == to_json(record)


def test_a_short_disturbance_stays_in_the_figures_and_is_told() -> None:
    record = judged(disturbed(hot=3, after=37, slow=GOOD))
    (window,) = record.windows
    assert window.cut is None
    assert record.verdict.ruling is Ruling.PASS
    assert window.outcomes["ok"] == 6000
    (remark,) = window.remarks
    assert remark == (
        "peak @5: at a limit, but for too short a time to matter: cpu of worker-1 from 00:00:20 to 00:00:23 UTC "
        "(3.0 s, 5 % of the window, at most 1.30 times its limit of 95.0 %)"
    )


@pytest.mark.parametrize(
    ("before", "hot", "after"),
    [(20, 20, 20), (5, 3, 6), (0, 60, 0)],  # too much of it, too short a rest, all of it
    ids=["a third", "ten seconds", "all"],
)
def test_what_would_leave_too_little_is_not_cut(before: int, hot: int, after: int) -> None:
    record = judged(disturbed(before, hot, after), float(before + hot + after))
    assert record.windows[0].cut is None
    assert [reason.kind for reason in record.verdict.reasons] == [ReasonKind.SATURATED]
    assert record.verdict.ruling is Ruling.INVALID


def test_several_stretches_are_a_pattern_and_not_an_accident() -> None:
    reporter = Reporter()
    for _ in range(4):
        reporter.seconds(12, GOOD)
        reporter.seconds(3, SLOW, workers=HOT)
    record = judged(reporter)
    assert record.windows[0].cut is None
    assert record.windows[0].health.saturated_seconds == 12
    assert record.verdict.ruling is Ruling.INVALID


def test_a_target_that_stalled_before_the_generator_was_disturbed_keeps_its_slow_answers() -> None:
    """Answers that come all at once after a stall keep the generator busy; cutting them out would hide the stall."""
    reporter = Reporter()
    reporter.seconds(20, GOOD)
    reporter.seconds(6, in_flight=50)
    reporter.seconds(4, a_cell([6500.0] * 200), workers=HOT)
    reporter.seconds(50, GOOD)
    record = judged(reporter, 80.0)
    assert record.windows[0].cut is None
    assert record.windows[0].indicators[Indicator.MAX].value == pytest.approx(6.5, rel=0.01)


def test_slow_answers_of_other_stages_do_not_make_a_stall_usual() -> None:
    reporter = Reporter()
    reporter.seconds(20, GOOD)
    reporter.seconds(6, in_flight=50)
    reporter.seconds(4, a_cell([6500.0] * 200), workers=HOT)
    reporter.seconds(50, GOOD)
    reporter.seconds(30, a_cell([9000.0] * 20, slot=1))
    slots = [a_slot(length=80.0), a_slot(1, "slow", 30.0, 80.0)]
    assert conclude(remains(reporter, slots)).windows[0].cut is None


def test_a_lost_worker_is_never_cut_out() -> None:
    reporter = Reporter()
    gone = (*HEALTHY, WorkerHealth("worker-1", 0, 4.0, {}))
    reporter.seconds(20, GOOD)
    reporter.seconds(5, GOOD, workers=gone)
    reporter.seconds(35, GOOD)
    record = judged(reporter)
    (window,) = record.windows
    assert window.cut is None
    assert ReasonKind.WORKER_LOST in {reason.kind for reason in record.verdict.reasons}
    (one,) = window.disturbances
    assert (one.signal, one.worker, one.start.timestamp() - T0) == ("workers", "worker-1", 17.0)


def test_a_backlog_is_followed_to_its_end() -> None:
    """After the stretch answers come that were asked for in it: a latency of three seconds reaches back into it."""
    reporter = Reporter()
    reporter.seconds(20, GOOD)
    reporter.seconds(5, SLOW, workers=HOT)
    reporter.seconds(4, a_cell([4500.0] * 20))
    reporter.seconds(51, GOOD)
    (window,) = judged(reporter, 80.0).windows
    assert window.cut is not None
    assert window.cut.end.timestamp() - T0 == 29.0
    assert window.indicators[Indicator.MAX].value == pytest.approx(0.010, rel=0.01)


def test_a_stretch_at_the_end_takes_along_what_ended_after_the_window() -> None:
    reporter = Reporter()
    reporter.seconds(55, GOOD)
    reporter.seconds(5, SLOW, workers=HOT)
    late = a_cell([900.0] * 7)
    reporter.second(late)
    record = judged(reporter)
    (window,) = record.windows
    assert window.cut is not None
    assert (window.seconds, window.outcomes["ok"]) == (54.0, 5400)
    assert sum(record.totals.values()) == 5500 + 100 + 7


def test_in_a_long_window_the_cut_goes_out_to_the_borders_of_its_batches() -> None:
    reporter = Reporter()
    for number in range(1000):
        reporter.second(GOOD, workers=HOT if 500 <= number < 560 else HEALTHY)
    record = judged(reporter, 1000.0)
    (window,) = record.windows
    assert window.cut is not None
    assert 63.0 <= window.cut.seconds <= 63.0 + 2 * 16
    assert window.outcomes["ok"] == 100 * window.seconds
    files = archive_files(record, reporter.ledger)
    assert to_json(rejudge(record, hlog.read(files["latency.hlog"]))) == to_json(record)


REQUESTS = st.lists(st.tuples(st.floats(0.0, 59.0), st.floats(0.001, 9.0)), max_size=60)


@given(REQUESTS, st.integers(2, 50), st.integers(4, 8))
@settings(max_examples=60, deadline=None)
def test_no_request_that_is_left_was_under_way_in_the_disturbed_stretch(
    requests: list[tuple[float, float]], begin: int, length: int
) -> None:
    reporter = Reporter()
    by_second: dict[int, Counter[int]] = {}
    for sent, took in requests:
        by_second.setdefault(int(sent + took), Counter())[round(took * 1e6)] += 1
    for number in range(70):
        counts = by_second.get(number, Counter())
        cells = [Cell(0, True, "ok", dict(counts), sum(us * n for us, n in counts.items()))] if counts else []
        reporter.second(*cells, workers=HOT if begin <= number < begin + length else HEALTHY)
    (window,) = judged(reporter).windows
    event("cut" if window.cut else "whole")
    if window.cut is None:
        assert window.outcomes["ok"] == len(requests)
        return
    first, last = window.cut.start.timestamp() - T0, window.cut.end.timestamp() - T0
    assert first < begin
    left = [
        (sent, took)
        for sent, took in requests
        if int(sent + took) + 1 <= first + 0.01 or (last < 60.0 and int(sent + took) >= last - 0.01)
    ]
    assert len(left) == window.outcomes["ok"]
    assert all(sent + took <= begin or sent >= begin + length - 0.02 for sent, took in left)
    assert window.seconds == pytest.approx(60.0 - window.cut.seconds)


def test_throughput_that_the_generator_limited_is_a_lower_bound() -> None:
    record = judged(disturbed(20, 20, 20))
    throughput = record.windows[0].indicators[Indicator.THROUGHPUT]
    assert isinstance(throughput, Measured)
    assert (throughput.censored, throughput.low, throughput.high) == (True, throughput.value, None)


def test_users_that_did_not_run_make_throughput_a_lower_bound() -> None:
    reporter = Reporter()
    reporter.seconds(20, GOOD, users=3)
    reporter.seconds(40, GOOD)
    throughput = judged(reporter).windows[0].indicators[Indicator.THROUGHPUT]
    assert isinstance(throughput, Measured)
    assert throughput.censored
