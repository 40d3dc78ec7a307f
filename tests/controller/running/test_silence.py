"""A generator whose master says nothing: only the controller can tell, while it lasts, on its own page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from controller.edges.rehearsal import RehearsalClock
from controller.edges.rehearsal_generator import RehearsalGenerator
from controller.orders import Report
from controller.running.rehearsing import Rehearsal, set_up
from controller.running.telemetry import families
from exporters.names.loadgen import SATURATION
from tests.controller.builders import a_plan

LABELS = {"signal": "workers", "worker": "controller"}


@dataclass(slots=True)
class Muffled(RehearsalGenerator):
    """What it reports between these two moments (seconds of the clock) arrives after them."""

    since: float = 0.0
    until: float = 0.0

    def reports(self) -> Sequence[Report]:
        return () if self.since <= self.clock.monotonic() < self.until else RehearsalGenerator.reports(self)


def silences(rehearsal: Rehearsal) -> list[tuple[float, float]]:
    """Moment and distance to the limit, as a scrape would have had them at each turn of the run."""
    found: list[tuple[float, float]] = []
    board = rehearsal.loop.board

    def turn() -> None:
        for family in families(board.run(), board.daemon(), None):
            if family.name == SATURATION.name:
                found.extend((rehearsal.clock.monotonic(), s.value) for s in family.samples if s.labels == LABELS)

    rehearsal.loop.turn = turn
    rehearsal.loop.run()
    return found


def test_a_silent_master_is_at_its_limit_after_two_seconds_and_a_half_and_not_for_longer_than_it_is_silent() -> None:
    begin = RehearsalClock().monotonic()
    found = silences(set_up(a_plan(), Muffled(RehearsalClock(), since=begin + 12.0, until=begin + 17.0)))
    hot = [at - begin for at, value in found if value >= 1]
    assert 13.4 <= min(hot) <= 14.6  # its last word was up to a second old
    assert 16.5 <= max(hot) <= 17.1


def test_one_that_reports_every_second_stays_below_half_of_it() -> None:
    found = silences(set_up(a_plan()))
    assert len(found) > 50
    assert max(value for _, value in found) < 0.5
