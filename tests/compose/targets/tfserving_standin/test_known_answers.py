"""A running stand-in does what its script says, and its log tells what it did."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from compose.targets.tfserving_standin.distributions import Bimodal, Exponential, Lognormal, Shape, Uniform

from .running import PAGE, StandIn, a_stand_in, monitored, requests_in


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("known") / "log.jsonl"


@pytest.fixture(scope="module")
def stand_in(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    options = monitored(tmp_path_factory.mktemp("monitoring"))
    with a_stand_in("--versions", "1", "--log", str(log), *options) as running:
        yield running


def logged(stand_in: StandIn, log: Path, number: int) -> list[dict[str, Any]]:
    """The last predictions of the log."""
    stand_in.counts()  # has the log written
    return [line for line in requests_in(log) if line["kind"] == "predict"][-number:]


def ask_many(stand_in: StandIn, number: int, clients: int = 8) -> list[int]:
    with ThreadPoolExecutor(clients) as pool:
        return [answer.status for answer in pool.map(lambda _: stand_in.predict(), range(number))]


SHAPES: list[Shape] = [
    Uniform(kind="uniform", low=0.002, high=0.02),
    Exponential(kind="exponential", mean=0.01, floor=0.002),
    Lognormal(kind="lognormal", median=0.008, sigma=0.5),
    Bimodal(kind="bimodal", low=0.002, high=0.04, share=0.2),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_service_times_are_drawn_from_the_distribution_and_kept(stand_in: StandIn, log: Path, shape: Shape) -> None:
    stand_in.script({"latency": shape.model_dump()})
    ask_many(stand_in, 200)
    lines = logged(stand_in, log, 200)
    asked = sorted(line["asked"] for line in lines)
    for q in (0.5, 0.9):
        spread = 4 * (q * (1 - q) / 200) ** 0.5
        assert (
            asked[int((q - spread) * 200)] - 1e-6
            <= shape.quantile(q)
            <= asked[min(199, int((q + spread) * 200))] + 1e-6
        )
    lateness = sorted(line["taken"] - line["asked"] for line in lines)
    assert lateness[0] >= -2e-6, "never early, but for the rounding to whole microseconds"
    assert lateness[20] < 0.002, "a tenth of the answers is on time even where other programs take the processors"


def test_a_phase_has_its_own_latency(stand_in: StandIn, log: Path) -> None:
    slow = {"kind": "constant", "value": "60ms"}
    stand_in.script({"phases": [{"from": "1s", "for": "10s", "latency": slow}]})
    began = time.monotonic()
    stand_in.predict()
    time.sleep(max(0.0, began + 1.05 - time.monotonic()))
    stand_in.predict()
    assert [line["asked"] for line in logged(stand_in, log, 2)] == [0.0, 0.06]


def test_a_freeze_holds_every_answer_and_lets_all_go_at_its_end(stand_in: StandIn, log: Path) -> None:
    stand_in.script({"freezes": [{"at": 0, "for": "2s"}]})
    assert ask_many(stand_in, 6, clients=6) == [200] * 6
    assert stand_in.get(PAGE).status == 200
    frozen_until = stand_in.counts()["script_started"] + 2.0
    lines = logged(stand_in, log, 6)
    late = [line["answer"] - frozen_until for line in lines]
    assert all(0 <= seconds < 1.5 for seconds in late), f"less than another freeze, on a busy machine too: {late}"
    assert all(line["taken"] > line["asked"] + 0.1 for line in lines)


def test_an_error_burst_fails_its_share_with_its_code(stand_in: StandIn, log: Path) -> None:
    stand_in.script({"errors": [{"code": "RESOURCE_EXHAUSTED", "share": 0.5, "for": "60s", "after": "5ms"}]})
    statuses = Counter(ask_many(stand_in, 200))
    assert set(statuses) == {200, 429}
    assert 60 < statuses[429] < 140
    failed = [line for line in logged(stand_in, log, 200) if line["code"] == "RESOURCE_EXHAUSTED"]
    assert len(failed) == statuses[429]
    assert all(line["answer"] - line["arrival"] >= 0.005 - 2e-6 for line in failed)
    assert stand_in.get("/v1/models/m").status == 200, "only predictions fail"


def test_a_drop_closes_the_connection_without_an_answer(stand_in: StandIn, log: Path) -> None:
    before = stand_in.samples()
    stand_in.script({"errors": [{"drop": True}]})
    with pytest.raises(OSError, match=r"closed|reset"):
        stand_in.predict()
    stand_in.script({})
    (line,) = logged(stand_in, log, 1)
    assert (line["status"], line["delivered"]) == (0, False)
    name = ':tensorflow:serving:request_count{model_name="m",status="UNAVAILABLE"}'
    assert stand_in.samples().get(name) == before.get(name), "a server that drops its clients counts nothing"


def test_capacity_queues_and_the_wait_is_not_in_the_server_s_own_latency(stand_in: StandIn, log: Path) -> None:
    latency = ':tensorflow:serving:request_latency_sum{model_name="m",API="predict",entrypoint="REST"}'
    stand_in.predict()
    stand_in.script({"latency": {"kind": "constant", "value": "100ms"}, "capacity": {"concurrency": 2, "queue": 6}})
    before = stand_in.samples()[latency]
    statuses = Counter(ask_many(stand_in, 10, clients=10))
    lines = [line for line in logged(stand_in, log, 10) if line["status"] == 200]
    assert statuses == {200: 8, 503: 2}
    waits = sorted(round((line["start"] - line["arrival"]) / 0.1) for line in lines)
    assert waits[-1] >= 3, "the last two waited for three pairs"
    served_at_once = max(sum(a["start"] <= b["start"] < a["answer"] for a in lines) for b in lines)
    assert served_at_once == 2
    assert 8 * 100_000 <= stand_in.samples()[latency] - before < 8 * 150_000, "the waits add up to more"


def test_a_rate_spaces_the_starts(stand_in: StandIn, log: Path) -> None:
    stand_in.script({"capacity": {"rate": "50/s"}})
    ask_many(stand_in, 10, clients=10)
    starts = sorted(line["start"] for line in logged(stand_in, log, 10))
    assert all(later - earlier >= 0.0199 for earlier, later in pairwise(starts))


def test_a_version_load_slows_requests_and_then_takes_over(stand_in: StandIn, log: Path) -> None:
    load = {"version": 7, "at": 0, "takes": "1500ms", "extra": "30ms"}
    failing = {"version": 8, "at": "1600ms", "fails": "no such file"}
    stand_in.script({"loads": [load, failing]})
    stand_in.predict()
    states = stand_in.get("/v1/models/m").json()["model_version_status"]
    assert [(entry["version"], entry["state"]) for entry in states] == [("7", "LOADING"), ("1", "AVAILABLE")]
    time.sleep(1.8)
    stand_in.predict()
    during, after = logged(stand_in, log, 2)
    assert (during["version"], during["asked"]) == (1, 0.03)
    assert (after["version"], after["asked"]) == (7, 0.0)
    states = stand_in.get("/v1/models/m").json()["model_version_status"]
    assert [(entry["version"], entry["state"]) for entry in states] == [("8", "END"), ("7", "AVAILABLE"), ("1", "END")]
    assert states[0]["status"] == {"error_code": "INTERNAL", "error_message": "no such file"}
    samples = stand_in.samples()
    attempts = ":tensorflow:cc:saved_model:load_attempt_count"
    assert samples[f'{attempts}{{model_path="/models/m/7",status="success"}}'] == 1
    assert samples[f'{attempts}{{model_path="/models/m/8",status="fail"}}'] == 1
    assert samples[':tensorflow:cc:saved_model:load_latency{model_path="/models/m/7"}'] >= 1_500_000


def test_a_wrong_script_changes_nothing(stand_in: StandIn) -> None:
    stand_in.script({"seed": 99})
    answer = stand_in.post("/standin/script", {"seed": "x", "freezes": 1})
    assert answer.status == 400
    assert "seed" in answer.json()["error"]
    assert "freezes" in answer.json()["error"]
    assert stand_in.get("/standin/script").json()["script"]["seed"] == 99
    assert stand_in.get("/standin/nothing").status == 404


def test_the_log_holds_exactly_what_the_counts_say(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    script = tmp_path / "script.yaml"
    script.write_text("latency: {kind: exponential, mean: 2ms}\nerrors: [{code: INTERNAL, share: 0.1}]\n")
    with a_stand_in("--log", str(log), "--script", str(script)) as stand_in:
        ask_many(stand_in, 300, clients=16)
        stand_in.get("/v1/models/m")
        stand_in.get("/nowhere")
        counts = stand_in.counts()
        assert len(requests_in(log)) == 302, "the log can be read while it is written"
        assert stand_in.stop()[0] == 0
    lines = Counter((line["protocol"], line["kind"], line["status"], line["code"]) for line in requests_in(log))
    answered = {
        (entry["protocol"], entry["kind"], entry["status"], entry["code"]): entry["count"]
        for entry in counts["answered"]
    }
    assert dict(lines) == answered
    assert counts["received"] == {"rest": {"outside": 1, "predict": 300, "status": 1}}
    assert '"event": "stopped"' in log.read_text().splitlines()[-1]
