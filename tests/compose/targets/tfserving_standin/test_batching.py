"""Batching in a running stand-in: what clients and the metric page see of it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from .running import PREDICT, ROW, Answer, StandIn, a_stand_in, batched, monitored, requests_in

SESSION = ":tensorflow:serving:batching_session:"


def together(stand_in: StandIn, bodies: list[object]) -> list[Answer]:
    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(lambda body: stand_in.post(PREDICT, body), bodies))


def test_requests_share_batches_and_the_page_shows_it(tmp_path: Path) -> None:
    parameters = """
        max_batch_size { value: 8 }  batch_timeout_micros { value: 1000000 }  num_batch_threads { value: 1 }
        allowed_batch_sizes: 4  allowed_batch_sizes: 8
    """
    with a_stand_in(*monitored(tmp_path), *batched(tmp_path, parameters)) as stand_in:
        assert not [name for name in stand_in.samples() if "batch_size" in name]
        alone = stand_in.predict().json()["predictions"]
        answers = stand_in.predict_at_once(8)
        assert [answer.json()["predictions"] for answer in answers] == [alone] * 8
        samples = stand_in.samples()
    assert samples[f"{SESSION}wrapped_run_count{{}}"] == 2
    assert samples[f"{SESSION}input_batch_size_count{{}}"] == 9
    assert samples[f"{SESSION}processed_batch_size_sum{{}}"] == 4 + 8
    assert samples[f'{SESSION}padding_size_sum{{execution_batch_size="4"}}'] == 3
    assert samples[f'{SESSION}padding_size_sum{{execution_batch_size="8"}}'] == 0
    assert samples[f'{SESSION}queuing_latency_count{{thread_pool_name=""}}'] == 9
    queued = samples[f'{SESSION}queuing_latency_sum{{thread_pool_name=""}}']
    runtime = samples[':tensorflow:serving:runtime_latency_sum{model_name="m",API="Predict",runtime="TF1"}']
    assert 1_000_000 <= queued <= runtime, "the runtime includes the time in the queue"


def test_a_full_queue_is_503_and_a_run_takes_its_thread(tmp_path: Path) -> None:
    parameters = "max_batch_size { value: 1 } max_enqueued_batches { value: 2 } num_batch_threads { value: 1 }"
    log = tmp_path / "log.jsonl"
    options = ("--latency", "constant:500ms", "--log", str(log))
    with a_stand_in(*batched(tmp_path, parameters), *options) as stand_in:
        answers = stand_in.predict_at_once(8)
        stand_in.stop()
    refused = [answer for answer in answers if answer.status == 503]
    served = [line for line in requests_in(log) if line["status"] == 200]
    assert len(served) + len(refused) == 8
    assert 1 <= len(served) <= 3
    assert (
        refused[0].json()["error"].startswith("The batch scheduling queue to which this task was submitted is full; ")
    )
    runs = sorted(line["run"] for line in served)
    assert all(later - earlier >= 0.4999 for earlier, later in pairwise(runs)), "one after the other"
    assert all(abs(line["taken"] - 0.5) < 0.2 for line in served)


def test_running_past_the_deadline_is_504_and_waiting_past_it_429(tmp_path: Path) -> None:
    parameters = "max_batch_size { value: 1 } num_batch_threads { value: 1 } max_enqueued_batches { value: 100 }"
    options = ("--latency", "constant:300ms", "--rest_api_timeout_in_ms", "200")
    with a_stand_in(*batched(tmp_path, parameters), *options) as stand_in:
        late = stand_in.predict()
        assert (late.status, late.json()["error"]) == (504, "Timed out waiting for notification")
        stand_in.script({"freezes": [{"at": 0, "for": "1500ms"}]})
        answers = stand_in.predict_at_once(3)
    found = sorted((answer.status, answer.json().get("error")) for answer in answers)
    waited = "Run() timeout exceeded while waiting in batching queue"
    assert found == [(200, None), (429, waited), (429, waited)], "the freeze held the only thread"


def test_one_request_of_another_shape_fails_the_whole_batch(tmp_path: Path) -> None:
    parameters = "max_batch_size { value: 2 } batch_timeout_micros { value: 2000000 }"
    short = {"instances": [ROW[:3]]}
    with a_stand_in(*batched(tmp_path, parameters), *monitored(tmp_path)) as stand_in:
        answers = together(stand_in, [{"instances": [ROW]}, short])
        assert {answer.status for answer in answers} == {400}
        assert all("serving_default_features:0" in answer.json()["error"] for answer in answers)
        assert f"{SESSION}wrapped_run_count{{}}" not in stand_in.samples()
        counts = stand_in.samples()
        assert counts[':tensorflow:serving:request_count{model_name="m",status="FAILED_PRECONDITION"}'] == 2


def test_a_large_request_is_split_over_batches(tmp_path: Path) -> None:
    whole = "max_batch_size { value: 10 } enable_large_batch_splitting { value: true } "
    parameters = whole + "max_execution_batch_size { value: 4 } num_batch_threads { value: 1 }"
    with a_stand_in(*batched(tmp_path, parameters), *monitored(tmp_path)) as stand_in:
        one = stand_in.predict().json()["predictions"][0]
        assert stand_in.predict(10).json()["predictions"] == [one] * 10
        samples = stand_in.samples()
        assert samples[f"{SESSION}wrapped_run_count{{}}"] == 1 + 3
        assert samples[f'{SESSION}queuing_latency_count{{thread_pool_name=""}}'] == 1 + 3, "every part is observed"
        too_big = stand_in.predict(11)
        assert json.loads(too_big.body) == {"error": "Task size 11 is larger than maximum input batch size 10"}
