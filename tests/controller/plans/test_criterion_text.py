"""The grammar of objectives and stop rules; what is refused is pinned by the invalid plans."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from controller.plans.criterion import Criterion, Indicator, Operator, StopRule
from controller.plans.criterion_text import parse_objective, parse_stop_rule

OBJECTIVES = {
    "p99 <= 50ms": (Indicator.P99, Operator.LE, 0.05),
    "p99.9<1.5s": (Indicator.P999, Operator.LT, 1.5),
    "  mean   <   2.5 ms  ": (Indicator.MEAN, Operator.LT, 0.0025),
    "max <= 1m": (Indicator.MAX, Operator.LE, 60.0),
    "p50 <= 250us": (Indicator.P50, Operator.LE, 0.00025),
    "error_ratio < 1%": (Indicator.ERROR_RATIO, Operator.LT, 0.01),
    "error_ratio <= 0%": (Indicator.ERROR_RATIO, Operator.LE, 0.0),
    "timeout_ratio <= 0.1%": (Indicator.TIMEOUT_RATIO, Operator.LE, 0.001),
    "throughput >= 500/s": (Indicator.THROUGHPUT, Operator.GE, 500.0),
    "throughput > 0/s": (Indicator.THROUGHPUT, Operator.GT, 0.0),
}


@pytest.mark.parametrize(("text", "expected"), OBJECTIVES.items())
def test_an_objective_is_read_in_base_units(text: str, expected: tuple[Indicator, Operator, float]) -> None:
    assert parse_objective(text) == Criterion(text.strip(), *expected)


def test_a_stop_rule_is_a_criterion_and_a_time() -> None:
    criterion = Criterion("error_ratio > 20%", Indicator.ERROR_RATIO, Operator.GT, 0.2)
    text = "error_ratio > 20% for 1m30s"
    assert parse_stop_rule(text) == StopRule(text, criterion, timedelta(seconds=90))


def test_generator_saturated_is_saturation_at_its_limit() -> None:
    criterion = Criterion("generator saturated", Indicator.SATURATION, Operator.GE, 1.0)
    text = "generator saturated for 15s"
    assert parse_stop_rule(text) == StopRule(text, criterion, timedelta(seconds=15))
    assert parse_stop_rule("saturation >= 1 for 15s").criterion.bound == criterion.bound


@pytest.mark.parametrize("indicator", list(Indicator))
def test_every_indicator_has_a_stop_rule(indicator: Indicator) -> None:
    ratios = dict.fromkeys(("error_ratio", "timeout_ratio", "degraded_ratio"), "> 5%")
    bound = {"throughput": "< 5/s", "saturation": "> 0.5", **ratios}
    rule = parse_stop_rule(f"{indicator} {bound.get(indicator.value, '> 5s')} for 10s")
    assert rule.criterion.indicator is indicator


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("p99 =< 5ms", "at character 5, '=<': is not one of < <= > >="),
        ("p99 == 5ms", "at character 5, '==': is not one of < <= > >="),
        ("p99 <= fast", "at character 8, 'fast': a number such as 50ms is wanted"),
        ("p99 <= 5ms or so", "at character 12, 'or': the end of the text is wanted"),
        ("<= 5ms", "at character 1, '<=': an indicator is wanted"),
        ("p99 <= 1e3ms", "at character 8, '1e': p99 needs a bound with a unit, such as 50ms"),
        ("throughput >= 5", "at character 15, '5': throughput needs a bound with a unit, such as 500/s"),
    ],
)
def test_a_slip_is_shown_with_its_place(text: str, place: str) -> None:
    with pytest.raises(ValueError, match=re.escape(place)):
        parse_objective(text)
