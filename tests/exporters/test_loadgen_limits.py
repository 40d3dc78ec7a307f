"""The table of limits: complete, inside what a plan may set, and a plan's own limits instead of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.generator_spec import GeneratorSpec, decode_spec, encode_spec
from controller.plans.loader import load_plan
from exporters.loadgen_limits import LIMITS, Limit, in_force, read_limits
from exporters.names.loadgen import SIGNALS

EVERY_KIND = Path(__file__).parents[1] / "controller" / "plans" / "valid" / "every_kind.yaml"


def test_every_signal_has_one_limit() -> None:
    assert tuple(LIMITS) == SIGNALS
    assert len(set(SIGNALS)) == len(SIGNALS)


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_a_limit_says_what_it_is_why_it_is_there_and_what_to_do(limit: Limit) -> None:
    assert limit.least <= limit.value <= limit.most
    assert limit.unit == "seconds" or limit.value <= 1
    for sentence in (limit.measures, limit.reason, limit.remedy):
        assert len(sentence) > 20
        assert not sentence.endswith(".")


def test_a_plan_may_move_any_limit_and_no_other_moves_with_it() -> None:
    plan = load_plan(EVERY_KIND)
    limits = in_force(plan.generator_limits)
    assert (limits["loop_lag"], limits["cpu"], limits["workers"]) == (0.030, 0.9, 4.0)
    assert in_force([("cpu", 0.5)]) == {**in_force(), "cpu": 0.5}
    assert in_force()["loop_lag"] == 0.020


def test_an_unknown_signal_has_no_limit() -> None:
    with pytest.raises(KeyError):
        in_force([("load_average", 1.0)])


def test_limits_are_read_as_people_write_them() -> None:
    assert read_limits("loop_lag=30ms, cpu=0.9,workers=4s,") == (("loop_lag", 0.03), ("cpu", 0.9), ("workers", 4.0))
    assert read_limits("") == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("load=1", "load is no signal"),
        ("loop_lag=30", "write a time such as 30ms"),
        ("cpu=90%", "write a number such as 0.9"),
        ("cpu=20", "from 0.0001 to 10 ratio"),
        ("cpu", "write a number"),
    ],
)
def test_what_is_no_limit_is_told(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_limits(text)


def test_limits_reach_the_generator_and_change_what_the_plan_is() -> None:
    plan = load_plan(EVERY_KIND)
    spec = GeneratorSpec("r", "p", plan.target, plan.workload, 1, limits=plan.generator_limits)
    assert decode_spec(encode_spec(spec)).limits == plan.generator_limits
    other = EVERY_KIND.read_text().replace("loop_lag: 30ms", "loop_lag: 31ms")
    assert other != EVERY_KIND.read_text()
