"""Plan files: the valid ones become what they say, the invalid ones say everything that is wrong with them."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from controller.plans.criterion import Indicator, Operator
from controller.plans.loader import load_plan
from controller.plans.plan import Hold, OpenLoop, Phase, Plan, Ramp, Soak, Spike, Staircase
from controller.plans.problems import PlanError
from controller.plans.text import MAX_BYTES
from controller.plans.timetable import lay_out, slots_of

PLANS = Path(__file__).parent
SHIPPED = Path(__file__).parents[3] / "compose" / "plans"
INVALID = sorted((PLANS / "invalid").glob("*.yaml"))
VALID = sorted((PLANS / "valid").glob("*.yaml"))
MINIMAL = (PLANS / "valid" / "minimal.yaml").read_text()
MARK = "# error: "


def problems_of(path: Path) -> list[str]:
    """What is wrong with a plan, without its path."""
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    assert str(caught.value).splitlines() == [str(problem) for problem in caught.value.problems]
    return [str(problem).removeprefix(str(path)).removeprefix(":").strip() for problem in caught.value.problems]


def written(folder: Path, text: str | bytes) -> Path:
    """A plan file with this content."""
    path = folder / "plan.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def with_payloads(folder: Path, payloads: str) -> Path:
    """The minimal plan with other payloads."""
    return written(folder, MINIMAL.replace("{random: {shape: [16]}}", payloads))


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_plan_says_exactly_this(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert problems_of(path) == [line.removeprefix(MARK) for line in lines if line.startswith(MARK)]


def test_no_invalid_plan_states_nothing() -> None:
    assert len(INVALID) > 40
    assert [path.name for path in INVALID if not path.read_text().startswith(MARK)] == []


@pytest.mark.parametrize("path", [*VALID, *sorted(SHIPPED.glob("*.yaml"))], ids=lambda path: path.stem)
def test_a_valid_plan_loads_and_lays_out(path: Path) -> None:
    plan = load_plan(path)
    assert plan.path == path.resolve()
    assert plan.source == path.read_text()
    assert lay_out(plan).span > timedelta(0)


def test_awkward_writing_changes_no_value() -> None:
    plan = load_plan(PLANS / "valid" / "awkward.yaml")
    assert plan.name == 'soir \u2013 BERT, "b=16" #3: größer'
    assert (plan.target.rest, plan.target.model, plan.target.label) == ("http://[::1]:8501", "1.10", "no")
    assert plan.workload.headers == (
        ("X-Build", "0123"),
        ("X-Commit", "1e10"),
        ("Authorization", "Bearer ${env:MODEL_TOKEN}"),
        ("X-Empty-Looking", "~"),
    )
    assert plan.workload.timeout == timedelta(seconds=2.5)
    assert plan.tags == ("run:nightly", "gpu=none, cpu=2", "modèle")
    assert [(stage.name, stage.load, stage.lasts) for stage in plan.stages if isinstance(stage, Hold)] == [
        ("on", 10, timedelta(seconds=90)),
        ("22:30", 50, timedelta(minutes=5)),
        ("steady, again", 10, timedelta(minutes=5)),
        ("cool: down", 0, timedelta(minutes=3)),
    ]
    assert lay_out(plan).span == timedelta(minutes=14, seconds=30)


def test_every_kind_of_stage_becomes_its_value() -> None:
    warm, up, stairs, spike, down, soak = load_plan(PLANS / "valid" / "every_kind.yaml").stages[:6]
    second = timedelta(seconds=1)
    assert warm == Hold("warm", 1, second, Phase.WARMUP)
    assert up == Ramp("up", 0, 10, 10 * second)
    assert stairs == Staircase("stairs", 10, 5, 20, 2 * second, second)
    assert spike == Spike("spike", 0, 40, 2 * second, 4 * second, 6 * second, second / 2)
    assert down == Ramp("down", 20, 0, 10 * second)
    assert soak == Soak("soak", 8, 90 * second, timedelta(0))


def test_every_kind_of_stage_can_be_an_open_loop() -> None:
    hold, ramp, stairs, spike, soak = load_plan(PLANS / "valid" / "every_kind.yaml").stages[6:]
    second, loop = timedelta(seconds=1), OpenLoop()
    assert hold == Hold("open hold", 1200.0, 10 * second, loop=loop)
    assert ramp == Ramp("open ramp", 0.0, 0.5, 10 * second, OpenLoop("poisson", None, 7))
    assert stairs == Staircase("open stairs", 0.1, 0.1, 0.4, 2 * second, loop=loop)
    assert [slot.arrivals.start for slot in slots_of(stairs) if slot.arrivals] == [0.1, 0.2, 0.3, 0.4]
    assert spike == Spike("open spike", 0.0, 40.0, 2 * second, 4 * second, 6 * second, loop=loop)
    assert soak == Soak("open soak", 8.0, 90 * second, timedelta(0), OpenLoop("constant", 9))


def test_objectives_and_stop_rules_become_criteria() -> None:
    plan = load_plan(PLANS / "valid" / "http_service.yaml")
    assert [(c.indicator, c.operator, c.bound) for c in plan.objectives] == [
        (Indicator.P999, Operator.LE, 1.0),
        (Indicator.MEAN, Operator.LT, 0.02),
        (Indicator.TIMEOUT_RATIO, Operator.LE, 0.0),
    ]
    assert [(rule.criterion.indicator, rule.held_for) for rule in plan.stop_when] == [
        (Indicator.THROUGHPUT, timedelta(minutes=1)),
        (Indicator.SATURATION, timedelta(seconds=10)),
    ]
    assert plan.workload.payloads.jsonl == (PLANS / "valid" / "requests.jsonl").resolve()


def test_the_demo_loads_the_target_for_at_most_three_minutes() -> None:
    timetable = lay_out(load_plan(SHIPPED / "demo.yaml"))
    assert timetable.span <= timedelta(minutes=3)
    assert len([slot for slot in timetable.slots if slot.window]) >= 4


def digest(folder: Path, text: str) -> str:
    """The digest of a plan with this text."""
    return load_plan(written(folder, text)).digest


def test_the_digest_is_that_of_the_content_and_not_of_its_form(tmp_path: Path) -> None:
    plain = digest(tmp_path, MINIMAL)
    (tmp_path / "elsewhere").mkdir()
    assert digest(tmp_path / "elsewhere", MINIMAL) == plain
    same = {
        "comments and blank lines": f"# more\n\n{MINIMAL}\n# and more\n",
        "block style": MINIMAL.replace(
            "  - {name: steady, kind: hold, users: 5, for: 30s}",
            "  - for: 30000ms\n    users: 5\n    kind: 'hold'\n    name: \"steady\"",
        ),
        "a default written out": f"workers: 1\n{MINIMAL}tags: []\n",
        "anchors": MINIMAL.replace("users: 5", "<<: *x").replace("stages:", "x-a: &x {users: 5}\nstages:"),
        "a byte order mark": f"\ufeff{MINIMAL}",
        "windows line ends": MINIMAL.replace("\n", "\r\n"),
    }
    for what, text in same.items():
        assert digest(tmp_path, text) == plain, what
    for one, two in (("users: 5", "users: 6"), ("30s", "31s"), ("name: p", "name: q"), ("8501", "8502")):
        assert digest(tmp_path, MINIMAL.replace(one, two)) != plain, two
    assert digest(tmp_path, f"{MINIMAL}objectives: [p99<=50ms]\n") == digest(
        tmp_path, f"{MINIMAL}objectives: [p99 <= 0.05s]\n"
    )


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    assert problems_of(tmp_path) == ["is a folder, not a plan; name a file in it"]
    assert problems_of(tmp_path / "none.yaml") == ["does not exist; check the path"]
    assert problems_of(written(tmp_path, "")) == ["holds no plan; write one, or copy compose/plans/reference.yaml"]
    latin = "version: 1\nname: größer\n".encode("latin-1")
    assert problems_of(written(tmp_path, latin)) == ["2: byte 0xf6 is not UTF-8 text; save the file as UTF-8"]
    utf16 = MINIMAL.encode("utf-16")
    assert problems_of(written(tmp_path, utf16)) == ["1: byte 0xff is not UTF-8 text; save the file as UTF-8"]
    size = MAX_BYTES + 1
    large = "#" * size
    expected = f"has {size} bytes, and a plan may have {MAX_BYTES}; keep data in payload files"
    assert problems_of(written(tmp_path, large)) == [expected]
    os.mkfifo(tmp_path / "pipe.yaml")
    assert problems_of(tmp_path / "pipe.yaml") == ["is not an ordinary file; name a plan file"]
    through = written(tmp_path, MINIMAL) / "plan.yaml"
    assert problems_of(through) == ["cannot be read (Not a directory); check the path and its permissions"]


def test_a_numpy_file_is_looked_at(tmp_path: Path) -> None:
    def load(array: object, rows: int = 1) -> list[str]:
        np.save(tmp_path / "x.npy", np.asarray(array))
        return problems_of(with_payloads(tmp_path, f"{{npy: x.npy, rows: {rows}}}"))

    few = np.zeros((3, 4), np.float32)
    key = "5: workload.payloads.npy: x.npy"
    remedy = "save an array of floats, integers or booleans"
    assert load(np.array([1j])) == [f"{key} holds complex128, not numbers; {remedy}"]
    assert load(np.zeros((0, 4))) == [f"{key} has the shape (0, 4): no instance; save at least one row"]
    assert load(np.float32(1)) == [f"{key} has the shape (): no instance; save at least one row"]
    assert load(few, 4) == [f"{key} holds 3 instances, and a request takes 4; lower rows or add instances"]
    whole = (tmp_path / "x.npy").read_bytes()
    path = with_payloads(tmp_path, "{npy: x.npy, rows: 3}")
    assert load_plan(path).workload.payloads.npy == (tmp_path / "x.npy").resolve()
    (tmp_path / "x.npy").write_bytes(whole[:-1])
    assert "is not a whole .npy file" in problems_of(path)[0]
    (tmp_path / "x.npy").write_bytes(b"")
    assert "is not a whole .npy file" in problems_of(path)[0]
    np.save(tmp_path / "x.npy", np.array([{"a": 1}]), allow_pickle=True)
    assert "holds Python objects, which are pickles and never loaded" in problems_of(path)[0]
    with (tmp_path / "x.npy").open("wb") as file:
        np.savez(file, a=few)
    assert problems_of(path) == [f"{key} is an archive of arrays; save one array with numpy.save"]


def test_a_jsonl_file_is_looked_at(tmp_path: Path) -> None:
    def load(content: bytes, rows: int = 1) -> list[str]:
        (tmp_path / "x.jsonl").write_bytes(content)
        return problems_of(with_payloads(tmp_path, f"{{jsonl: x.jsonl, rows: {rows}}}"))

    key = "5: workload.payloads.jsonl: x.jsonl"
    assert load(b"") == [f"{key} has no instance; write one JSON value a line"]
    assert load(b"[1]\n\n[2]\n", 3) == [f"{key} holds 2 instances, and a request takes 3; lower rows or add instances"]
    nan = "NaN or Infinity, which is no JSON; clean the data, or set allow_nan: true"
    assert load(b"\n[1]\n[NaN]\n") == [f"{key}, line 3: {nan}"]
    assert load(b'"\xff"\n') == [f"{key}, line 1: not UTF-8 text (byte 2); save the file as UTF-8"]
    assert "line 1: not a JSON value: maximum recursion depth" in load(b"[" * 100_000)[0]
    assert "line 2: more than 16,777,216 bytes on one line" in load(b"[1]\n" + b"1" * (17 * 1024 * 1024))[0]
    (tmp_path / "x.jsonl").unlink()
    (tmp_path / "x.jsonl").mkdir()
    path = tmp_path / "plan.yaml"
    assert problems_of(path) == [f"{key} is not an ordinary file; name a file"]


def test_loading_takes_less_than_fifty_milliseconds() -> None:
    def once() -> float:
        started = time.process_time()
        load_plan(SHIPPED / "reference.yaml")
        return time.process_time() - started

    assert min(once() for _ in range(5)) < 0.05


def test_a_loaded_plan_can_be_hashed() -> None:
    plans: set[Plan] = {load_plan(path) for path in VALID}
    assert len(plans) == len(VALID)
