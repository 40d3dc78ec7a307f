"""A rule ends a run only when it certainly held, second after second, for its whole time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from controller.figures.stop_rules import held_for, held_rule
from controller.orders import WorkerHealth
from controller.plans.criterion import Criterion, Indicator, StopRule
from tests.controller.loads import T0, Reporter, a_cell, criterion

TOO_MANY_ERRORS = criterion("error_ratio > 20%", Indicator.ERROR_RATIO, ">", 0.2)
SLOW = criterion("p99 > 1s", Indicator.P99, ">", 1.0)
SATURATED = criterion("generator saturated", Indicator.SATURATION, ">=", 1.0)
QUICK = criterion("p99 < 10s", Indicator.P99, "<", 10.0)


def a_rule(criterion: Criterion, seconds: float) -> StopRule:
    return StopRule(f"{criterion.text} for {seconds:g}s", criterion, timedelta(seconds=seconds))


def bad(reporter: Reporter, number: int) -> None:
    reporter.seconds(number, a_cell([10.0] * 5), a_cell([5.0] * 5, "http_error"))


def good(reporter: Reporter, number: int) -> None:
    reporter.seconds(number, a_cell([10.0] * 9), a_cell([5.0], "http_error"))


def test_it_must_hold_for_its_whole_time() -> None:
    reporter, rule = Reporter(), a_rule(TOO_MANY_ERRORS, 10)
    bad(reporter, 9)
    assert held_rule([rule], reporter.ledger) is None
    bad(reporter, 1)
    assert held_rule([rule], reporter.ledger) == rule


def test_one_good_second_starts_it_anew() -> None:
    reporter, rule = Reporter(), a_rule(TOO_MANY_ERRORS, 10)
    bad(reporter, 9)
    good(reporter, 1)
    bad(reporter, 9)
    assert held_rule([rule], reporter.ledger) is None


def test_a_second_without_requests_is_unknown_and_breaks_it() -> None:
    reporter = Reporter()
    bad(reporter, 9)
    reporter.second()
    bad(reporter, 3)
    assert held_for(TOO_MANY_ERRORS, reporter.ledger.seconds) == 3.0


def test_missing_seconds_break_it() -> None:
    reporter = Reporter()
    bad(reporter, 9)
    reporter.now += 2.0
    bad(reporter, 4)
    assert held_for(TOO_MANY_ERRORS, reporter.ledger.seconds) == 4.0


def test_intervals_need_not_be_a_second_exactly() -> None:
    reporter, rule = Reporter(), a_rule(TOO_MANY_ERRORS, 10)
    reporter.seconds(10, a_cell([5.0], "http_error"), length=0.995)
    assert held_rule([rule], reporter.ledger) == rule


@pytest.mark.parametrize(("silence", "held"), [(1.0, 10.0), (3.5, 0.0)])
def test_an_old_series_says_nothing_about_now(silence: float, held: float) -> None:
    reporter = Reporter()
    bad(reporter, 10)
    assert held_for(TOO_MANY_ERRORS, reporter.ledger.seconds, T0 + 10 + silence) == held


def test_a_quantile_holds_whatever_the_number_of_requests() -> None:
    reporter, rule = Reporter(), a_rule(SLOW, 3)
    reporter.seconds(3, a_cell([10.0] * 20 + [1500.0]))
    assert held_rule([rule], reporter.ledger) == rule
    reporter.seconds(3, a_cell([10.0] * 200 + [1500.0]))  # one in 201 is beyond, less than one in a hundred
    assert held_rule([rule], reporter.ledger) is None


def test_a_lower_bound_can_exceed_a_limit_but_never_keep_one() -> None:
    reporter = Reporter()
    reporter.seconds(5, a_cell([3000.0] * 4, "timeout"))
    assert held_for(SLOW, reporter.ledger.seconds) == 5.0
    assert held_for(QUICK, reporter.ledger.seconds) == 0.0


def test_saturation_that_nobody_can_read_is_not_saturation() -> None:
    reporter = Reporter()
    reporter.seconds(5, workers=(WorkerHealth("a", 5, 0.1, {"cpu": 1.2}),))
    assert held_for(SATURATED, reporter.ledger.seconds) == 5.0
    reporter.second(workers=(WorkerHealth("a", 5, 9.0, {"cpu": 1.2}),))
    assert held_for(SATURATED, reporter.ledger.seconds) == 0.0


def test_without_users_nothing_holds() -> None:
    reporter = Reporter(users=0)
    bad(reporter, 10)
    assert held_for(TOO_MANY_ERRORS, reporter.ledger.seconds) == 0.0


def test_the_first_rule_that_held_is_named_and_none_without_seconds() -> None:
    reporter = Reporter()
    rules = [a_rule(SLOW, 2), a_rule(TOO_MANY_ERRORS, 0), a_rule(TOO_MANY_ERRORS, 2)]
    assert held_rule(rules, reporter.ledger) is None
    bad(reporter, 2)
    assert held_rule(rules, reporter.ledger) == rules[1]
