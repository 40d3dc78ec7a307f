"""Scripts: how they are read, what they draw, whom they let in. No clock runs here."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from compose.targets.tfserving_standin.behaviour import Behaviour
from compose.targets.tfserving_standin.codes import Code
from compose.targets.tfserving_standin.durations import per_second, seconds
from compose.targets.tfserving_standin.gate import Gate
from compose.targets.tfserving_standin.script import (
    Capacity,
    Loading,
    Script,
    ScriptError,
    parse_option,
    parse_script,
    parse_script_text,
    read_script,
)


@pytest.mark.parametrize(
    ("text", "value"), [("5ms", 0.005), ("250us", 0.00025), ("1m30s", 90.0), ("2", 2.0), (3, 3.0), ("0.5s", 0.5)]
)
def test_durations(text: object, value: float) -> None:
    assert seconds(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "-1s", "1 s", "ms", "5x", True, None, -1, float("nan")])
def test_wrong_durations(text: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


def test_rates() -> None:
    assert [per_second(text) for text in ("500/s", "90/m", 20, "7")] == [500, 1.5, 20, 7]
    for wrong in ("0/s", "x", -1, None):
        with pytest.raises(ValueError, match="is not a rate"):
            per_second(wrong)


SHAPES: list[dict[str, Any]] = [
    {"kind": "constant", "value": "5ms"},
    {"kind": "uniform", "low": "2ms", "high": "8ms"},
    {"kind": "exponential", "mean": "5ms", "floor": "1ms"},
    {"kind": "lognormal", "median": "5ms", "sigma": 0.6},
    {"kind": "bimodal", "low": "1ms", "high": "50ms", "share": 0.05},
    {"kind": "empirical", "values": ["1ms", "2ms", "3ms", "9ms"]},
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape["kind"]))
def test_draws_have_the_quantiles_the_distribution_names(shape: dict[str, Any]) -> None:
    latency = parse_script({"latency": shape}).latency
    random, count = Random(3), 40_000  # noqa: S311 - repeatable draws
    drawn = sorted(latency.draw(random, index) for index in range(count))
    for q in (0.1, 0.5, 0.9, 0.97, 0.99):
        spread = 5 * (q * (1 - q) / count) ** 0.5  # five standard deviations of the rank of a quantile
        low, high = drawn[int((q - spread) * count)], drawn[min(count - 1, int((q + spread) * count))]
        assert low <= latency.quantile(q) <= high


def test_a_cycle_goes_through_its_list() -> None:
    shape = {"kind": "empirical", "values": ["1ms", "2ms"], "order": "cycle"}
    behaviour = Behaviour(parse_script({"latency": shape}), 0.0)
    assert [behaviour.latency(1.0) for _ in range(5)] == [0.001, 0.002, 0.001, 0.002, 0.001]


def test_all_problems_of_a_script_are_named_at_once() -> None:
    text = """
    nonsense: 1
    latency: {kind: uniform, low: 5ms, high: 1ms}
    errors: [{code: OK}, {share: 2}]
    freezes: [{at: x}]
    """
    with pytest.raises(ScriptError) as raised:
        parse_script_text(text)
    lines = str(raised.value).splitlines()
    assert {line.partition(":")[0] for line in lines} == {
        "nonsense",
        "latency.uniform",
        "errors.0.code",
        "errors.1.share",
        "freezes.0.at",
        "freezes.0.for",
    }


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("constant:5ms", {"kind": "constant", "value": "5ms"}),
        ("lognormal:median=5ms,sigma=0.5", {"kind": "lognormal", "median": "5ms", "sigma": "0.5"}),
        ("empirical:values=1ms|2ms,order=cycle", {"kind": "empirical", "values": ["1ms", "2ms"], "order": "cycle"}),
        ("at=10s,for=2s", {"at": "10s", "for": "2s"}),
    ],
)
def test_options_say_the_same_as_yaml(text: str, part: dict[str, Any]) -> None:
    assert parse_option(text) == part


def test_options_are_laid_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("seed: 4\nfreezes: [{at: 1s, for: 1s}]\nlatency: {kind: constant, value: 1ms}\n")
    script = read_script(path, {"latency": parse_option("constant:9ms"), "freezes": [parse_option("at=5s,for=1s")]})
    assert script.seed == 4
    assert script.latency.quantile(0.5) == 0.009
    assert [freeze.at for freeze in script.freezes] == [1.0, 5.0]
    with pytest.raises(ScriptError, match="could not read the script"):
        read_script(tmp_path / "missing.yaml", {})
    for wrong in ("[1]", "a: [", "5"):
        path.write_text(wrong)
        with pytest.raises(ScriptError):
            read_script(path, {})


def test_phases_freezes_and_slow_loads_follow_the_clock_of_the_script() -> None:
    script = parse_script(
        {
            "latency": {"kind": "constant", "value": "1ms"},
            "phases": [{"from": "10s", "for": "5s", "latency": {"kind": "constant", "value": "20ms"}}],
            "freezes": [{"at": "3s", "for": "2s"}, {"at": "5s", "for": "1s"}],
        }
    )
    behaviour = Behaviour(script, 100.0)
    assert [behaviour.latency(moment) for moment in (109.9, 110.0, 114.9, 115.0)] == [0.001, 0.02, 0.02, 0.001]
    assert [behaviour.released(due) for due in (102.9, 103.0, 105.5, 106.0)] == [102.9, 106.0, 106.0, 106.0]
    behaviour.slow_until(121.0, Loading(extra=0.5, slowdown=3.0), 120.0)
    assert behaviour.latency(120.5) == pytest.approx(0.503)
    assert behaviour.latency(121.0) == 0.001


def test_an_error_burst_takes_its_share_of_its_time() -> None:
    script = parse_script({"errors": [{"code": "INTERNAL", "share": 0.25, "from": "1s", "for": "2s"}]})
    behaviour = Behaviour(script, 50.0)
    assert behaviour.refusal(50.9) is None
    assert behaviour.refusal(53.0) is None
    taken = [burst for _ in range(4000) if (burst := behaviour.refusal(52.0)) is not None]
    assert 900 < len(taken) < 1100
    assert taken[0].code is Code.INTERNAL


def test_the_gate_limits_how_many_are_served_at_once() -> None:
    gate: Gate[str] = Gate(Capacity(concurrency=2, queue=1))
    assert gate.offer("a", 0.0)
    assert gate.admit(0.0) == "a"
    assert gate.offer("b", 0.0)
    assert gate.admit(0.0) == "b"
    assert gate.offer("c", 0.0), "one may wait"
    assert not gate.offer("d", 0.0), "two may not"
    assert gate.admit(0.0) is None
    assert gate.opens_at(0.0) is None, "time alone changes nothing"
    gate.leave()
    assert gate.admit(1.0) == "c"


def test_the_gate_spaces_starts_by_the_rate() -> None:
    gate: Gate[int] = Gate(Capacity(rate=10.0))
    for item in range(3):
        assert gate.offer(item, 5.0)
    assert gate.admit(5.0) == 0
    assert gate.admit(5.05) is None
    assert gate.opens_at(5.05) == pytest.approx(5.1)
    assert gate.admit(5.1) == 1
    assert gate.admit(9.0) == 2
    assert not gate.open
    gate.change(Script().capacity)
    assert gate.open
