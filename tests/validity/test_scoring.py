"""What counts as flagged, as the right reason, and as soon enough."""

from __future__ import annotations

from typing import Any

from controller.verdicts.reasons import ReasonKind
from exporters.names.loadgen import SIGNALS
from tests.validity.case import Case, Poison
from tests.validity.live import Alarm, alarms, parse
from tests.validity.play import Played
from tests.validity.poisons.trigger import pull
from tests.validity.report import row_line, totals
from tests.validity.scoring import OF_THE_GENERATOR, lasting, score
from tests.validity.table import CASES, SAMPLE

HOGS = Case("hogs", "poisoned", "users: 1", right=("run_queue",), poison=Poison(pull))
WELL = Case("well", "healthy", "users: 1")
SLOW = Case("slow", "slow", "users: 1")
PAGE = """
# HELP loadgen_saturation Distance of a signal to its limit.
loadgen_saturation{signal="cpu",worker="worker-0"} 0.5
loadgen_saturation{signal="loop_lag",worker="worker-0"} 1.25
loadgen_requests_total{outcome="ok"} 100.0
loadgen_requests_total{outcome="generator_error"} 0.0
loadgen_workers_expected 2.0
loadgen_workers_connected 2.0
"""


def played(*seen: Alarm, reasons: tuple[str, ...] = (), ruling: str = "pass", **more: Any) -> Played:
    record = {
        "outcome": more.pop("outcome", "completed"),
        "verdict": {
            "ruling": ruling,
            "reasons": [{"kind": kind, "sentence": more.get("say", kind)} for kind in reasons],
        },
        "notes": [],
        "findings": more.pop("findings", []),
    }
    more.pop("say", None)
    return Played(100.0, 106.0, seen, more.pop("marks", ()), {}, record, (), False, 0, "", **more)


def at(*moments: float, what: str = "run_queue") -> tuple[Alarm, ...]:
    return tuple(Alarm(moment, what, "worker-0", 2.0) for moment in moments)


def test_a_page_is_read_and_only_what_is_at_its_limit_alarms() -> None:
    later = PAGE.replace("connected 2.0", "connected 1.0").replace('generator_error"} 0.0', 'generator_error"} 3.0')
    found = list(alarms([*parse(1.0, PAGE), *parse(2.0, later)]))
    assert [(alarm.at, alarm.what, alarm.value) for alarm in found] == [
        (1.0, "loop_lag", 1.25), (2.0, "loop_lag", 1.25), (2.0, "generator_errors", 3.0), (2.0, "worker_lost", 1.0),
    ]  # fmt: skip


def test_a_poison_counts_when_flagged_soon_and_for_the_right_reason() -> None:
    soon = score(HOGS, played(*at(108.2), reasons=("saturated",), ruling="invalid"))
    assert (soon.holds, soon.seconds, soon.where) == (True, 2.2, "metric")
    late = score(HOGS, played(*at(112.0), reasons=("saturated",), ruling="invalid"))
    assert (late.flagged, late.right, late.holds) == (True, True, False)
    wrong = score(HOGS, played(*at(107.0, what="memory"), reasons=("saturated",), ruling="invalid"))
    assert (wrong.flagged, wrong.right, wrong.holds) == (True, False, False)
    early = score(HOGS, played(*at(104.0), reasons=("saturated",), ruling="invalid"))
    assert (early.right, early.before) == (False, ("run_queue",))
    lasts = score(HOGS, played(*at(104.0, 105.0, 106.5), reasons=("saturated",), ruling="invalid"))
    assert not lasts.right  # it was on before: it says nothing of the poison
    over = score(HOGS, played(*at(101.0, 106.5), reasons=("saturated",), ruling="invalid"))
    assert over.holds


def test_a_sentence_of_the_verdict_that_names_the_signal_is_right_but_has_no_time_without_a_second() -> None:
    row = score(HOGS, played(reasons=("saturated",), ruling="invalid", say="load: run_queue of worker-0 from 1 to 2"))
    assert (row.right, row.seconds, row.holds) == (True, None, False)


def test_a_mark_in_grafana_is_a_sight_as_well() -> None:
    blind = Case("blind", "poisoned", "users: 1", right=("scrapes",))
    row = score(blind, played(marks=at(110.5, what="scrapes")))
    assert (row.holds, row.seconds, row.where) == (True, 4.5, "annotation")
    assert not score(blind, played(marks=at(111.5, what="scrapes"))).holds


def test_one_reading_at_the_limit_flags_no_healthy_run_and_three_seconds_do() -> None:
    assert score(WELL, played(*at(107.0))).holds
    assert not score(WELL, played(*at(107.0, 108.0, 109.0, 110.0))).holds
    assert lasting(at(1.0, 2.0, 5.0, 6.0)) == set()
    assert not score(WELL, played(reasons=("saturated",), ruling="invalid")).holds
    assert score(WELL, played(reasons=("objective_missed",), ruling="fail")).holds
    assert not score(WELL, played(outcome="crashed")).holds


def test_arrivals_that_find_no_slot_at_a_slow_server_are_no_saturation() -> None:
    dropped = at(107.0, 108.0, 109.0, 110.0, what="dropped_no_slot")
    assert score(SLOW, played(*dropped, reasons=("arrivals_dropped",), ruling="inconclusive")).holds
    assert not score(SLOW, played(*at(107.0, 108.0, 109.0, 110.0, what="errors"))).holds


def test_a_refusal_is_right_only_in_the_words_of_the_poison() -> None:
    few = Case("few", "poisoned", "users: 80", right=("preflight",), words=("descriptor",))
    told = [{"ok": False, "sentence": "80 users need 90 descriptors and there are 64"}]
    assert score(few, played(outcome="refused", findings=told)).holds
    other = [{"ok": False, "sentence": "the target did not answer"}]
    assert not score(few, played(outcome="refused", findings=other)).holds


def test_totals_hold_only_what_was_reached() -> None:
    good = score(HOGS, played(*at(107.0), reasons=("saturated",), ruling="invalid"))
    bad = score(HOGS, played())
    figures = totals([*[good] * 19, bad, score(WELL, played()), score(SLOW, played())])
    assert [figure.holds for figure in figures[:3]] == [True, True, True]
    assert not totals([*[good] * 18, bad, bad])[0].holds
    assert row_line(bad).startswith("NO poisoned hogs")


def test_reasons_are_those_of_the_verdict_and_signals_those_of_the_generator() -> None:
    kinds = {kind.value for kind in ReasonKind}
    assert kinds >= OF_THE_GENERATOR
    elsewhere = {"preflight", "scrapes"}
    assert {word for case in CASES.values() for word in case.right} <= {*kinds, *SIGNALS, *elsewhere}


def test_the_matrix_has_its_forty_five_and_every_poison_its_reason() -> None:
    kinds = [case.kind for case in CASES.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {"healthy": 20, "poisoned": 20, "slow": 5}
    assert all(case.right and case.why and case.poison for case in CASES.values() if case.kind == "poisoned")
    assert sorted(CASES[name].kind for pair in SAMPLE for name in pair) == [
        "healthy", "healthy", "poisoned", "poisoned", "poisoned", "slow",
    ]  # fmt: skip
