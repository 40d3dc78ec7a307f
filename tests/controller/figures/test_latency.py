"""The ledger: every request counted once, memory bounded, gaps seen."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures.histogram import Histogram
from controller.figures.latency import DETAILED_SECONDS, MOST_BATCHES, LatencyLedger
from controller.figures.measurement import Absent, Measured
from controller.figures.seconds import COLUMNS, KEPT, to_csv
from controller.figures.stop_rules import held_for
from controller.orders import Cell, Interval, WorkerHealth
from controller.plans.criterion import Indicator
from tests.controller.loads import T0, Reporter, a_cell, criterion

CELLS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.booleans(),
        st.sampled_from(["ok", "timeout", "http_error"]),
        st.dictionaries(st.integers(0, 10**7), st.integers(0, 5), max_size=4),
    ),
    max_size=4,
)


@given(st.lists(CELLS, max_size=300 // 4))
@settings(max_examples=40, deadline=None)
def test_the_ledger_is_the_union_of_its_intervals(seconds: list[list[tuple[int, bool, str, dict[int, int]]]]) -> None:
    reporter = Reporter()
    direct: dict[tuple[int, bool, str], Histogram] = {}
    for cells in seconds:
        made = [Cell(s, m, o, c, sum(us * n for us, n in c.items())) for s, m, o, c in cells]
        reporter.second(*made)
        for cell in made:
            direct.setdefault((cell.slot, cell.measured, cell.outcome), Histogram()).add(cell.counts, cell.sum_us)
    for (slot, measured, outcome), histogram in direct.items():
        assert reporter.ledger.histogram(slot, outcome, measured=measured) == histogram
    assert sum(reporter.ledger.totals.values()) == sum(h.total for h in direct.values()) == reporter.ledger.reported


def test_a_long_window_is_kept_in_few_batches_and_loses_nothing() -> None:
    reporter = Reporter()
    for number in range(1000):
        reporter.second(a_cell([10 + number % 7] * 3), a_cell([2.0] * (number % 2), "http_error"))
    batches = reporter.ledger.batches(0)
    assert MOST_BATCHES / 2 <= len(batches) <= MOST_BATCHES
    assert batches[0].start == T0
    assert batches[-1].end == T0 + 1000
    assert all(before.end == after.start for before, after in pairwise(batches))
    assert sum(batch.histogram("ok").total for batch in batches) == 3000
    assert sum(batch.histogram("http_error").total for batch in batches) == 500


def test_requests_outside_the_window_are_kept_apart() -> None:
    reporter = Reporter()
    reporter.second(a_cell([10.0] * 5), a_cell([900.0] * 2, measured=False), a_cell([7.0], slot=3))
    ledger = reporter.ledger
    assert ledger.histogram(0, "ok").total == 5
    assert ledger.histogram(0, "ok", measured=False).total == 2
    assert ledger.slots() == (0, 3)
    assert ledger.batches(9) == ()


def test_gaps_between_reports_are_kept() -> None:
    reporter = Reporter()
    reporter.second(a_cell([1.0]))
    reporter.now += 0.3
    reporter.second(a_cell([1.0]))
    reporter.now += 2.0
    reporter.second(a_cell([1.0]))
    assert reporter.ledger.gaps == [pytest.approx((T0 + 2.3, T0 + 4.3))]


def test_an_unknown_outcome_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown outcome: 'teapot'"):
        Reporter().second(a_cell([1.0], "teapot"))


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ((), None),
        ((WorkerHealth("a", 1, 0.5, {"cpu": 0.5, "loop_lag": 0.7}),), 0.7),
        ((WorkerHealth("a", 1, 0.5, {"cpu": 0.5}), WorkerHealth("b", 1, 9.0, {"cpu": 0.1})), None),  # stale
        ((WorkerHealth("a", 1, 0.5, {"cpu": 1.5}), WorkerHealth("b", 1, 9.0, {})), 1.5),  # enough is known
        ((WorkerHealth("a", 1, 0.5, {"cpu": 0.5}), WorkerHealth("b", 1, 0.1, {})), None),  # no reading is not zero
    ],
)
def test_saturation_is_the_worst_reading_or_unknown(workers: tuple[WorkerHealth, ...], expected: float | None) -> None:
    reporter = Reporter()
    reporter.second(a_cell([1.0]), workers=workers)
    last = reporter.ledger.last
    assert last is not None
    assert last.saturation == expected
    assert isinstance(last.indicators[Indicator.SATURATION], Absent if expected is None else Measured)


def test_a_second_shows_what_happened_in_it_over_all_slots() -> None:
    ledger = LatencyLedger()
    bad = (a_cell([3000.0] * 2, "timeout"), a_cell([1.0], "http_error"))
    cells = (a_cell([10.0] * 8), a_cell([20.0] * 8, slot=1), *bad)
    ledger.add(Interval(T0, T0 + 0.5, cells, 25, 19, 6, 5, ()))
    last = ledger.last
    assert last is not None
    assert (last.ok, last.errors, last.timeouts, last.ended, last.in_flight) == (16, 3, 2, 19, 6)
    throughput = last.indicators[Indicator.THROUGHPUT]
    assert isinstance(throughput, Measured)
    assert throughput.value == 32.0  # 16 in half a second


def test_the_series_is_a_table_with_unknown_fields_left_empty() -> None:
    reporter = Reporter()
    reporter.second(a_cell([10.0] * 8))
    reporter.second(workers=())
    rows = to_csv(reporter.ledger.seconds).decode().splitlines()
    assert rows[0] == ",".join(COLUMNS)
    assert rows[1] == f"{T0:.3f},{T0 + 1:.3f},8,0,0,5,0,1,0.3100,0.010007,0.010007,0,0,0,0"
    assert rows[2] == f"{T0 + 1:.3f},{T0 + 2:.3f},0,0,0,5,0,0,,,,0,0,0,0"


def test_old_seconds_are_kept_with_less_detail() -> None:
    reporter = Reporter()
    reporter.seconds(DETAILED_SECONDS + 3, a_cell([10.0]))
    seconds = reporter.ledger.seconds
    assert [len(row.indicators) for row in seconds[2:5]] == [len(KEPT), len(Indicator), len(Indicator)]
    first, last = to_csv([seconds[0], seconds[-1]]).decode().splitlines()[1:]
    assert first.split(",")[2:] == last.split(",")[2:]
    assert held_for(criterion("p90 < 1s", Indicator.P90, "<", 1.0), seconds) == DETAILED_SECONDS
