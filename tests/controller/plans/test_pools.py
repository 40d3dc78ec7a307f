"""Payload files as people have them, whole and broken: each broken one is refused in one clear sentence."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controller.plans import payloads
from controller.plans.loader import load_plan
from controller.plans.model_inputs import ModelInput, model_inputs, random_arrays, random_instances
from controller.plans.payloads import bodies, request_bodies
from controller.plans.plan import Payloads, Workload
from controller.plans.pools import PayloadError
from controller.plans.problems import PlanError
from controller.plans.recorded import read_requests

PLAN = """version: 1
name: p
target: {kind: http, rest: http://127.0.0.1:8501}
workload: {path: /p, payloads: {%s: file}}
stages:
  - {name: steady, kind: hold, users: 5, for: 30s}
"""


def truncated(path: Path) -> None:
    np.save(path.with_suffix(".npy"), np.zeros((100, 4)))
    data = path.with_suffix(".npy").read_bytes()
    path.write_bytes(data[:-100])


def saved(values: Any) -> Callable[[Path], None]:
    def save(path: Path) -> None:
        with path.open("wb") as file:
            np.save(file, np.asarray(values))

    return save


def text(content: str | bytes) -> Callable[[Path], None]:
    return lambda path: (path.write_bytes(content.encode() if isinstance(content, str) else content), None)[1]


@pytest.mark.parametrize(
    ("source", "make", "sentence"),
    [
        ("npy", truncated, "is not a whole .npy file"),
        ("npy", text(""), "is not a whole .npy file"),
        ("npy", text("no array"), "is not a whole .npy file"),
        ("npy", saved([1j]), "holds complex128, not numbers"),
        ("npy", saved(np.zeros((0, 3))), "no instance"),
        ("npy", saved(np.float32(1)), "no instance"),
        ("jsonl", text(""), "has no instance"),
        ("jsonl", text("{]"), "line 1: not a JSON value"),
        ("jsonl", text("[NaN]"), "line 1: NaN or Infinity, which is no JSON; clean the data"),
        ("csv", text(""), "has no instance"),
        ("csv", text("a,b\n"), "has no instance"),
        ("csv", text("1,2\n"), ""),
        ("csv", text("1,two\n"), "line 1: 'two', which is no number"),
        ("csv", text("a,b\n1\n"), "line 2: 1 columns, and 2 before"),
        ("csv", text(b"\xff\xfe1"), "bytes that are not UTF-8 text"),
        ("requests", text("[]"), "line 1: no JSON object"),
        ("requests", text('{"path": "score"}'), "no `path` that starts with /"),
        ("requests", text('{"path": "/", "at": "noon"}'), "an `at` that is no number of seconds"),
        ("requests", text('{"path": "/", "url": "x"}'), "the unknown key 'url'"),
        ("requests", text('{"path": "/", "headers": {"A": "1\\r\\nB: 2"}}'), "`headers` that are no object of texts"),
    ],
)
def test_a_broken_file_is_seen_when_the_plan_is_read(
    source: str, make: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    make(tmp_path / "file")
    plan = tmp_path / "plan.yaml"
    recorded = PLAN.replace("path: /p, ", "") if source == "requests" else PLAN
    plan.write_text(recorded % source)
    if not sentence:
        load_plan(plan)
        return
    with pytest.raises(PlanError) as caught:
        load_plan(plan)
    assert len(caught.value.problems) == 1, caught.value.problems
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("source", "content", "sentence"),
    [
        ("csv", "1,2\n3\n", "has on line 2 1 columns, and 2 before"),
        ("csv", "1,2\n3,x\n", "has on line 2 'x', which is no number"),
        ("csv", "1,nan\n", "holds NaN or Infinity"),
        ("jsonl", '{"a": 1}\n\n{"a": \n', ":3: not a JSON value"),
        ("requests", '{"path": "/"}\n{"path": 1}\n', ":2: holds no `path`"),
    ],
)
def test_a_file_that_is_broken_further_down_is_refused_before_load(
    source: str, content: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text(content)
    pool = Payloads(**{source: tmp_path / "file"}, order="sequential")  # type: ignore[arg-type]
    with pytest.raises(PayloadError, match=sentence) as caught:
        bodies(Workload(pool), "http")
    assert "\n" not in str(caught.value)


def test_a_table_is_read_with_and_without_a_header(tmp_path: Path) -> None:
    for name, content in (("a", "x,y\n1,2\n3,4.5\n"), ("b", "1,2\n\n3,4.5\n")):
        (tmp_path / name).write_text(content)
        sent = bodies(Workload(Payloads(csv=tmp_path / name, order="sequential")), "tfserving")
        assert [json.loads(body)["instances"] for body in sent] == [[[1.0, 2.0]], [[3.0, 4.5]]]


def test_recorded_requests_keep_method_path_headers_body_and_their_times(tmp_path: Path) -> None:
    rows = [
        {"at": 100.5, "method": "PUT", "path": "/a?b=c", "headers": {"X-A": "1"}, "body": {"x": 1}},
        {"at": 100.75, "path": "/health"},
        {"at": 101.5, "path": "/raw", "body": "plain"},
        {"at": 101.5, "path": "/raw", "body_base64": "AP8="},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = list(read_requests(tmp_path / "r.jsonl"))
    assert [one.at for one in found] == [0.0, 0.25, 1.0, 1.0]
    assert [(one.method, one.path, one.body) for one in found] == [
        ("PUT", "/a?b=c", b'{"x":1}'),
        ("GET", "/health", b""),
        ("POST", "/raw", b"plain"),
        ("POST", "/raw", b"\x00\xff"),
    ]
    workload = Workload(Payloads(requests=tmp_path / "r.jsonl", order="sequential"))
    assert [body.recorded for body in request_bodies(workload, "http")] == found


def test_a_pool_of_two_gigabytes_takes_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "POOL_LIMIT_BYTES", 1_000_000)
    shape = (524_288, 1024)
    array = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32, shape=shape)  # a sparse file
    array[-1] = 1.0
    del array
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sent = bodies(Workload(Payloads(npy=tmp_path / "x.npy", order="sequential")), "tfserving")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert sum(map(len, sent)) <= 1_100_000
    assert grown < 120, f"{grown} MiB"
    assert json.loads(sent[-1])["instances"][0][0] == 1.0  # spread over the whole pool, its end included


def test_a_sample_is_the_same_for_the_same_seed_and_differs_between_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "POOL_LIMIT_BYTES", 2_000)
    workload = Workload(Payloads(random_shape=(8,), count=400))
    parts = [bodies(workload, "tfserving", part=part, parts=2) for part in (0, 1)]
    assert parts[0] == bodies(workload, "tfserving", part=0, parts=2)
    assert not set(parts[0]) & set(parts[1])
    assert all(0 < sum(map(len, part)) <= 2_600 for part in parts)
    monkeypatch.setattr(payloads, "POOL_LIMIT_BYTES", 10)
    with pytest.raises(PayloadError, match="use smaller payloads"):
        bodies(workload, "tfserving")


METADATA = {
    "metadata": {
        "signature_def": {
            "signature_def": {
                "serving_default": {
                    "inputs": {
                        "words": {"dtype": "DT_STRING", "tensor_shape": {"dim": [{"size": "-1"}]}},
                        "ids": {"dtype": "DT_INT64", "tensor_shape": {"dim": [{"size": "-1"}, {"size": "-1"}]}},
                        "x": {"dtype": "DT_FLOAT", "tensor_shape": {"dim": [{"size": "-1"}, {"size": "3"}]}},
                    }
                },
                "open": {"inputs": {"x": {"dtype": "DT_FLOAT", "tensor_shape": {"unknown_rank": True}}}},
                "odd": {"inputs": {"x": {"dtype": "DT_VARIANT", "tensor_shape": {"dim": [{"size": "-1"}]}}}},
            }
        }
    }
}


def test_payloads_from_a_signature_have_its_types_and_shapes() -> None:
    inputs = model_inputs(METADATA, None)
    arrays = random_arrays(inputs, 5, 1)
    assert {name: (values.dtype.kind, values.shape) for name, values in arrays.items()} == {
        "ids": ("i", (5, 16)),
        "words": ("S", (5,)),
        "x": ("f", (5, 3)),
    }
    assert random_instances(inputs, 5, 1) == random_instances(inputs, 5, 1) != random_instances(inputs, 5, 2)
    one = random_instances(inputs, 1, 1)[0]
    assert set(one) == {"ids", "words", "x"}
    assert set(one["words"]) == {"b64"}
    workload = Workload(Payloads(from_model=True, count=4, rows=2), form="column")
    sent = [json.loads(body)["inputs"] for body in bodies(workload, "tfserving", inputs=inputs)]
    assert [len(body["x"]) for body in sent] == [2, 2]
    single = (ModelInput("b", "DT_BOOL", (-1,)),)
    assert {type(value) for value in random_instances(single, 8, 1)} == {bool}


@pytest.mark.parametrize(
    ("signature", "sentence"),
    [
        ("open", "has no known rank"),
        ("odd", "DT_VARIANT, which cannot be made"),
        ("none", "it has odd, open, serving_"),
    ],
)
def test_a_signature_that_says_too_little_is_refused(signature: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        random_instances(model_inputs(METADATA, signature), 1, 1)
