"""A generator that nobody scrapes any more: known soon, marked and noted, and never made of a late scrape."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from controller.edges.rehearsal import RehearsalClock
from controller.edges.rehearsal_generator import RehearsalGenerator
from controller.ports import EdgeError, Sample
from controller.running.annotation import DISTURBANCE
from controller.running.rehearsing import set_up
from controller.running.scrape_age import Habit, ScrapeAge
from tests.controller.builders import a_plan


def habit(*stamps: tuple[float, float]) -> Habit:
    found = Habit()
    for stamp, now in stamps:
        found = found.after(stamp, now)
    return found


def test_a_scrape_is_overdue_after_five_quarters_of_the_usual_time_and_a_second() -> None:
    every_two = habit((1002.0, 2.1), (1004.0, 4.1), (1006.0, 6.1))
    assert every_two.overdue(9.5) == 0
    assert round(every_two.overdue(9.7), 1) == 3.6
    every_fifteen = habit((1005.0, 5.0), (1010.0, 10.0), (1020.0, 20.0), (1035.0, 35.0))
    assert every_fifteen.overdue(54.0) == 0


def test_what_was_known_late_is_no_younger_for_it() -> None:
    looked_once_a_second = habit((1002.0, 2.9), (1004.0, 4.0), (1006.0, 6.9))
    assert looked_once_a_second.overdue(9.4) == 0
    assert round(looked_once_a_second.overdue(9.6), 1) == 3.6


def test_clocks_that_drift_apart_make_no_silence() -> None:
    slow = habit(*((1000.0 + 2.0 * n, 2.0008 * n) for n in range(20_000)))
    assert slow.overdue(2.0008 * 19_999 + 2.5) == 0


def test_nothing_is_overdue_before_the_first_scrape_and_a_hole_does_not_become_the_habit() -> None:
    assert Habit().overdue(1e6) == 0
    after_a_hole = habit((1002.0, 2.0), (1004.0, 4.0), (1034.0, 34.0))
    assert after_a_hole.overdue(35.0) == 0
    assert after_a_hole.overdue(39.0) > 0


def test_another_clock_of_prometheus_does_not_matter() -> None:
    assert habit((9_002.0, 2.0), (9_004.0, 4.0)).overdue(6.0) == 0


@dataclass
class Store:
    """A Prometheus that has scraped at `stamp`, or does not answer."""

    stamp: float | None = 100.0
    asked: list[str] = field(default_factory=list)

    def instant(self, expression: str, at: datetime | None = None) -> Sequence[Sample]:
        self.asked.append(f"{expression} at {at}")
        if self.stamp is None:
            raise EdgeError("could not ask Prometheus")
        return [Sample({}, self.stamp, datetime.now(UTC))]

    def active_targets(self, job: str) -> Mapping[str, str]:
        return {job: "up"}


def answered(age: ScrapeAge, store: Store, now: float) -> float:
    """What is known once the answer to a new question is there."""
    before = len(store.asked)
    age.overdue(now)
    deadline = time.monotonic() + 10
    while len(store.asked) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    return age.overdue(now)


def test_a_prometheus_that_answers_no_more_is_a_silence_too() -> None:
    store = Store()
    age = ScrapeAge(store, "run-1")
    try:
        assert answered(age, store, 10.0) == 0
        assert '{run_id="run-1"}' in store.asked[0]
        store.stamp = None
        assert answered(age, store, 12.0) == 0
        assert answered(age, store, 30.0) == 20.0
    finally:
        age.close()


class Blind(ScrapeAge):
    """Overdue in a stretch of the rehearsal's time."""

    def __init__(self, since: float, until: float) -> None:
        super().__init__(Store(), "rehearsal")
        self._since, self._until = since, until

    def overdue(self, now: float) -> float:
        return now - self._since + 4 if self._since <= now < self._until else 0.0


def test_a_hole_is_marked_in_grafana_and_noted_and_no_figure_is_doubted() -> None:
    rehearsal = set_up(a_plan(), RehearsalGenerator(RehearsalClock()))
    rehearsal.loop.scrapes = Blind(10.0, 16.0)
    rehearsal.loop.run()
    marks = [region for region in rehearsal.annotator.regions.values() if region.marker == DISTURBANCE]
    assert [(mark.closed, "did not scrape" in mark.text) for mark in marks] == [(True, True)]
    assert (marks[0].end - marks[0].start).total_seconds() >= 8
    (note,) = [note for note in rehearsal.loop.chronicle.notes if "did not scrape" in note]
    assert "no figure of this record" in note
    assert not any(row.hot for row in rehearsal.loop.ledger.seconds)
