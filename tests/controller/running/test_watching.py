"""What is marked while a run is on: begun at once, moved forward, ended, and never too much of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from controller.edges.rehearsal import RehearsalClock
from controller.edges.rehearsal_generator import RehearsalGenerator
from controller.edges.rehearsal_load import Answers
from controller.figures.seconds import Second
from controller.orders import WorkerHealth
from controller.ports import Region
from controller.running.annotation import DISTURBANCE, MARKS_FROM, trouble
from controller.running.rehearsing import set_up
from controller.running.watching import JOINED, MOST_MARKS, Mark, Watched, finish, watch
from tests.controller.builders import a_plan
from tests.controller.loads import HEALTHY, T0, Reporter, a_cell

HOT = (WorkerHealth("worker-0", 5, 0.2, {"cpu": 1.2}),)


def seconds(*workers: tuple[WorkerHealth, ...]) -> list[Second]:
    reporter = Reporter()
    for those in workers:
        reporter.second(a_cell([1.0]), workers=those)
    return reporter.ledger.seconds


def marked(rows: Sequence[Second]) -> list[Mark]:
    state = Watched()
    found: list[Mark] = []
    for row in rows:
        state, marks = watch(state, row, ["worker-0"])
        found.extend(marks)
    return [*found, *finish(state)[1]]


def test_a_disturbance_is_marked_in_its_first_second_and_closed_when_it_is_over() -> None:
    first, last = marked(seconds(HEALTHY, HOT, HOT, *[HEALTHY] * 5))
    assert (first.start - T0, first.end - T0, first.closed) == (1.0, 2.0, False)
    assert (last.number, last.start - T0, last.end - T0, last.closed) == (first.number, 1.0, 3.0, True)


def test_a_long_one_is_moved_forward_and_closed_at_the_end_of_the_load() -> None:
    found = marked(seconds(*[HOT] * 35))
    assert [(mark.number, mark.end - T0, mark.closed) for mark in found] == [
        (0, 1.0, False),
        (0, 16.0, False),
        (0, 31.0, False),
        (0, 35.0, True),
    ]


def test_calm_of_up_to_three_seconds_does_not_end_it() -> None:
    found = marked(seconds(HOT, *[HEALTHY] * 3, HOT, *[HEALTHY] * 4))
    assert {mark.number for mark in found} == {0}


def test_a_lost_worker_is_marked_since_its_last_report_and_a_late_one_when_it_joins() -> None:
    gone = WorkerHealth("worker-1", 0, 4.0, {})
    (mark,) = watch(Watched(), seconds(HEALTHY, HEALTHY, HEALTHY, (*HEALTHY, gone))[-1], ())[1]
    assert (mark.signal, mark.worker, mark.start - T0) == ("workers", "worker-1", 0.0)
    state = Watched()
    rows = seconds(HEALTHY, HEALTHY)
    state, none = watch(state, rows[0], ["worker-0"])
    state, (late,) = watch(state, rows[1], ["worker-0", "worker-7"])
    assert none == ()
    assert (late.signal, late.worker, late.closed) == (JOINED, "worker-7", True)


@given(st.lists(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3)), max_size=4), max_size=80))
@settings(max_examples=60, deadline=None)
def test_marks_are_few_and_each_is_closed_once_after_which_it_rests(states: list[list[tuple[str, int]]]) -> None:
    rows = seconds(
        *[tuple(WorkerHealth(f"worker-{n}", 1, 0.1, {name: 2.0}) for name, n in those) or HEALTHY for those in states]
    )
    found = marked(rows)
    numbers = {mark.number for mark in found}
    assert len(numbers) <= MOST_MARKS
    for number in numbers:
        own = [mark for mark in found if mark.number == number]
        assert [mark.closed for mark in own] == [False] * (len(own) - 1) + [True]
        assert all(a.start == b.start and a.end <= b.end for a, b in pairwise(own))


def test_a_run_with_a_saturated_generator_has_a_region_that_ends_with_the_load() -> None:
    generator = RehearsalGenerator(RehearsalClock(), behaviour=lambda _at, _users: Answers(0.01, saturation=1.4))
    rehearsal = set_up(a_plan(), generator)
    rehearsal.loop.run()
    found: list[Region] = [one for one in rehearsal.annotator.regions.values() if one.marker == DISTURBANCE]
    assert len(found) == 1
    assert found[0].closed
    assert found[0].seq == MARKS_FROM
    assert {"stagelight", "disturbance", "run_id:rehearsal", "signal:cpu", "worker:worker-0"} <= set(found[0].tags)
    assert "run-phase" not in found[0].tags
    assert "cpu of worker-0 at 1.4 times its limit" in found[0].text
    phases = [one for one in rehearsal.annotator.regions.values() if one.marker != DISTURBANCE]
    assert all(one.seq < MARKS_FROM and "run-phase" in one.tags for one in phases)
    assert 2 <= sum(one.marker == DISTURBANCE for one in rehearsal.annotator.puts) <= 10
    assert not [entry for _, entry in rehearsal.entries if entry["action"] == "MarkTrouble"]  # no fsync when it is busy


def test_names_of_workers_are_escaped_in_the_text_and_safe_in_the_tags() -> None:
    region = trouble("r", "p", Mark(3, "cpu", "<b>:x", T0, T0 + 1, 2.0), T0 + 30)
    assert "<b>:x" not in region.text
    assert "worker:<b>-x" in region.tags
    assert region.key == f"r/{MARKS_FROM + 3}"
