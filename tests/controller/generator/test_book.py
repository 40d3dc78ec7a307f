from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.generator.acks import Acks
from controller.generator.book import Book, shares
from controller.generator.ledger import RawCell
from controller.generator.pulse import Vitals
from controller.generator.wire import Share, WorkerDrained, WorkerReport, unpacked_report
from controller.orders import Ack, Cell
from exporters.names.loadgen import OUTCOMES

VITALS = Vitals(1.5, 1000, (100, 25_000), {"cpu": 0.5, "loop_lag": 1.25})


def a_report(worker: str, sequence: int, *cells: RawCell, started: int | None = None, ended: int = 0) -> WorkerReport:
    return WorkerReport(worker, sequence, cells, ended if started is None else started, ended, 2, VITALS)


def a_book(*workers: str) -> Book:
    book = Book()
    for worker in workers:
        book.join(worker, f"address of {worker}", now=0.0)
    return book


def test_workers_are_merged_by_slot_window_and_outcome() -> None:
    book = a_book("worker-1", "worker-0")
    assert book.report(a_report("worker-0", 1, (1, True, "ok", {10: 2, 20: 1}, 41), started=5, ended=3), 1.0) == []
    assert (
        book.report(a_report("worker-1", 1, (1, True, "ok", {10: 1}, 10), (1, False, "ok", {9: 1}, 9), ended=2), 1.0)
        == []
    )
    interval = book.interval(100.0, 101.0, now=1.5)
    assert {(c.slot, c.measured, c.outcome, tuple(c.counts.items()), c.sum_us) for c in interval.cells} == {
        (1, True, "ok", ((10, 3), (20, 1)), 51),
        (1, False, "ok", ((9, 1),), 9),
    }
    assert (interval.started, interval.ended, interval.in_flight, interval.users) == (7, 5, 2, 4)
    assert [(w.worker, w.report_age, w.saturation["loop_lag"]) for w in interval.workers] == [
        ("worker-0", 0.5, 1.25),
        ("worker-1", 0.5, 1.25),
    ]
    assert book.interval(101.0, 102.0, now=2.5).cells == ()


def test_a_report_that_never_came_is_counted_and_told() -> None:
    book = a_book("worker-0")
    book.report(a_report("worker-0", 1), 1.0)
    (fault,) = book.report(a_report("worker-0", 4), 4.0)
    assert "2 reports of worker-0 never arrived" in fault
    assert book.reports_lost == 2


def test_silence_is_told_once_and_its_end_too() -> None:
    book = a_book("worker-0", "worker-1")
    book.report(a_report("worker-0", 1), 3.0)
    assert book.silences(1.7) == []
    assert [member.name for member in book.silences(1.8)] == ["worker-1"]
    assert book.silences(4.0) == []
    assert book.interval(0.0, 1.0, now=4.0).workers[1].saturation == {}  # old readings are no readings
    assert book.report(a_report("worker-1", 1), 6.0) == ["worker-1 answers again after 6.0 s of silence"]
    assert [member.name for member in book.silences(9.5)] == ["worker-0", "worker-1"]


def test_what_a_dead_worker_had_in_flight_is_a_generator_error_of_the_slot_in_effect() -> None:
    book = a_book("worker-0", "worker-1")
    book.order = Share(1, 7, measured=True, users=4)
    book.report(a_report("worker-0", 1, (7, True, "ok", {10: 3}, 30), started=5, ended=3), 1.0)
    assert "worker-0 is lost: 2 requests" in book.give_up("worker-0", 2.5)
    cells = {cell.outcome: cell for cell in book.interval(0.0, 1.0, now=2.5).cells}
    assert sum(cells["generator_error"].counts.values()) == 2
    assert cells["generator_error"].sum_us == 2 * 1_500_000
    assert (cells["generator_error"].slot, cells["generator_error"].measured) == (7, True)
    assert book.conclusion(3.0).totals == dict.fromkeys(OUTCOMES, 0) | {"ok": 3, "generator_error": 2}
    assert book.started == book.ended == 5
    assert [member.name for member in book.present] == ["worker-1"]
    assert "it is not counted" in book.report(a_report("worker-0", 2, (7, True, "ok", {10: 3}, 30)), 3.0)[0]
    assert book.totals["ok"] == 3


def test_a_workers_own_totals_have_to_be_what_it_reported() -> None:
    book = a_book("worker-0")
    book.report(a_report("worker-0", 1, (1, True, "ok", {10: 3}, 30), ended=3), 1.0)
    totals = dict.fromkeys(OUTCOMES, 0)
    assert book.drained(WorkerDrained("worker-0", totals | {"ok": 3}, 3, 1)) == []
    assert book.conclusion(2.0).aborted == 1
    (fault,) = book.drained(WorkerDrained("worker-0", totals | {"ok": 4}, 4, 0))
    assert fault == "worker-0 counted 4 requests, but its reports told of 3"


CELLS = st.tuples(
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from(OUTCOMES),
    st.dictionaries(st.integers(0, 70_000_000), st.integers(1, 5), min_size=1, max_size=4),
    st.integers(0, 10**9),
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["worker-0", "worker-1"]), st.lists(CELLS, max_size=3), st.booleans()), max_size=20
    )
)
def test_all_intervals_together_are_the_totals(reports: list[tuple[str, list[RawCell], bool]]) -> None:
    book, cells = a_book("worker-0", "worker-1"), list[Cell]()
    sequences: Counter[str] = Counter()
    for worker, told, tell in reports:
        sequences[worker] += 1
        book.report(a_report(worker, sequences[worker], *told), 1.0)
        if tell:
            cells += book.interval(0.0, 1.0, 1.0).cells
    cells += book.interval(0.0, 1.0, 1.0).cells
    found: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
    for cell in cells:
        found[cell.outcome] += sum(cell.counts.values())
    assert dict(found) == book.conclusion(2.0).totals == dict(book.totals)
    for outcome, buckets in book.durations.items():
        assert sum(buckets.counts) == found[outcome]
        assert buckets.sum_us == sum(cell.sum_us for cell in cells if cell.outcome == outcome)


@given(st.integers(0, 1000), st.integers(1, 9))
def test_shares_are_even_and_together_the_order(users: int, workers: int) -> None:
    book = a_book(*(f"worker-{number}" for number in range(workers)))
    parts = [share.users for _, share in shares(Share(3, 1, measured=True, users=users), book.present)]
    assert sum(parts) == users
    assert max(parts) - min(parts) <= 1
    more = [share.users for _, share in shares(Share(4, 1, measured=True, users=users + 1), book.present)]
    assert all(after >= before for before, after in zip(parts, more, strict=True))  # a rising order stops nobody


def test_a_report_survives_its_way() -> None:
    report = a_report("worker-0", 3, (1, True, "ok", {10: 2}, 20), started=4, ended=2)
    packed = report.packed()
    packed["cells"] = [list(cell) for cell in packed["cells"]]  # the channel knows lists only
    packed["vitals"][2] = list(packed["vitals"][2])
    assert unpacked_report(packed) == report


def test_an_order_is_acknowledged_with_the_time_of_the_last_worker() -> None:
    acks = Acks()
    acks.expect(1, ["a", "b"])
    acks.expect(2, ["a", "b"])
    assert acks.switched("a", 1, 10.5) == []
    assert acks.switched("b", 1, 10.25) == [Ack(1, 10.5)]
    assert acks.switched("b", 1, 10.75) == []
    assert acks.switched("a", 2, 11.0) == []
    assert acks.without("b") == [Ack(2, 11.0)]
    acks.expect(3, ["a"])
    assert acks.without("a") == []  # nobody obeyed it


@pytest.mark.parametrize("count", [1, 12])
def test_members_are_in_the_order_of_their_numbers(count: int) -> None:
    names = [f"worker-{number}" for number in range(count)]
    assert list(a_book(*reversed(names)).members) == names


def test_a_word_is_a_sign_of_life_but_not_for_long_without_a_report() -> None:
    book = a_book("worker-0")
    member = book.members["worker-0"]
    for quarter in range(1, 9):
        assert book.hears(member, quarter / 4) is None
        assert book.silences(quarter / 4 + 0.2) == []
    assert member.connected(2.5)
    assert book.hears(member, 3.1) is None
    assert [one.name for one in book.silences(3.2)] == ["worker-0"]  # it speaks, and does not report
    assert book.hears(member, 3.3) is None
    assert not book.interval(0.0, 1.0, now=3.3).workers[0].present
    assert book.report(a_report("worker-0", 1), 3.5) == ["worker-0 answers again after 0.2 s of silence"]
    assert book.interval(0.0, 1.0, now=3.6).workers[0].present


def test_who_is_silent_for_very_long_is_not_expected_any_more() -> None:
    book = a_book("worker-0", "worker-1")
    book.report(a_report("worker-0", 1), 10.0)
    book.silences(10.0)
    assert book.lost(9.9) == []
    assert [member.name for member in book.lost(10.1)] == ["worker-1"]
