from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from controller.plans import payloads
from controller.plans.payloads import PayloadError, bodies, exemplars
from controller.plans.plan import Payloads, Workload

TARGETS: tuple[Literal["tfserving", "http"], ...] = ("tfserving", "http")


def decoded(workload: Workload, kind: payloads.TargetKind = "tfserving", part: int = 0, parts: int = 1) -> list[Any]:
    return [json.loads(body) for body in bodies(workload, kind, part=part, parts=parts)]


def random_pool(
    count: int = 7, rows: int = 1, form: Literal["row", "column"] = "row", seed: int = 1, signature: str | None = None
) -> Workload:
    pool = Payloads(random_shape=(3,), count=count, rows=rows, seed=seed)
    return Workload(pool, form=form, signature=signature)


def lines(path: Path, *values: Any, rows: int = 1, form: Literal["row", "column"] = "row") -> Workload:
    path.write_text("\n".join(json.dumps(value) for value in values) + "\n\n")
    return Workload(Payloads(jsonl=path, rows=rows, order="sequential"), form=form)


def test_the_same_workload_gives_the_same_bytes_and_another_seed_others() -> None:
    assert bodies(random_pool(), "tfserving") == bodies(random_pool(), "tfserving")
    assert bodies(random_pool(), "tfserving") != bodies(random_pool(seed=2), "tfserving")
    assert payloads.digest(random_pool(), "tfserving") != payloads.digest(random_pool(seed=2), "tfserving")


def test_row_and_column_form_carry_the_signature_and_the_same_numbers() -> None:
    row, column = (decoded(random_pool(rows=2, form=form, signature="s"))[0] for form in ("row", "column"))
    assert row == {"signature_name": "s", "instances": column["inputs"]}
    assert np.shape(row["instances"]) == (2, 3)


def test_objects_become_one_column_for_every_input_name(tmp_path: Path) -> None:
    workload = lines(tmp_path / "x.jsonl", {"a": 1, "b": [2]}, {"a": 3, "b": [4]}, rows=2, form="column")
    assert decoded(workload) == [{"inputs": {"a": [1, 3], "b": [[2], [4]]}}]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_the_parts_together_are_the_whole_pool_once(parts: int) -> None:
    whole = bodies(random_pool(), "tfserving")
    split = [body for part in range(parts) for body in bodies(random_pool(), "tfserving", part=part, parts=parts)]
    assert sorted(split) == sorted(whole)


def test_the_first_bodies_are_those_of_the_whole() -> None:
    assert bodies(random_pool(), "tfserving", most=3) == bodies(random_pool(), "tfserving")[:3]


def test_every_part_has_work_even_with_fewer_bodies_than_parts() -> None:
    assert all(len(bodies(random_pool(count=2), "tfserving", part=part, parts=5)) == 1 for part in range(5))


def test_every_request_is_full_and_every_instance_is_used(tmp_path: Path) -> None:
    values = np.arange(7, dtype=np.int64)
    np.save(tmp_path / "x.npy", values)
    sent = decoded(Workload(Payloads(npy=tmp_path / "x.npy", rows=3)))
    assert [len(body["instances"]) for body in sent] == [3, 3, 3]
    assert {value for body in sent for value in body["instances"]} == set(range(7))


def test_sequential_keeps_the_order_of_the_file_and_shuffled_does_not(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(50))
    kept, mixed = (
        [body["instances"][0] for body in decoded(Workload(Payloads(npy=tmp_path / "x.npy", order=order)))]
        for order in ("sequential", "shuffled")
    )
    assert kept == list(range(50))
    assert mixed != kept
    assert sorted(mixed) == kept


def test_single_precision_travels_without_loss_and_without_needless_digits(tmp_path: Path) -> None:
    values = np.random.default_rng(3).random((20, 5), dtype=np.float32)
    np.save(tmp_path / "x.npy", values)
    workload = Workload(Payloads(npy=tmp_path / "x.npy", order="sequential"))
    back = np.array([body["instances"][0] for body in decoded(workload)], dtype=np.float32)
    assert np.array_equal(back, values)
    assert max(len(body) for body in bodies(workload, "tfserving")) < 90


def test_byte_strings_are_sent_as_base64(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([b"\x00\xffA"]))
    assert decoded(Workload(Payloads(npy=tmp_path / "x.npy"))) == [{"instances": [{"b64": "AP9B"}]}]


def test_a_line_is_the_whole_body_for_an_http_target(tmp_path: Path) -> None:
    assert decoded(lines(tmp_path / "x.jsonl", {"q": "ä"}, [1]), "http") == [{"q": "ä"}, [1]]
    with pytest.raises(PayloadError, match="set rows to 1"):
        bodies(lines(tmp_path / "x.jsonl", 1, 2, rows=2), "http")


def test_one_exemplar_for_every_structure(tmp_path: Path) -> None:
    workload = lines(tmp_path / "x.jsonl", {"a": [1, 2]}, {"a": [3, 4]}, {"a": [1]}, {"b": "t"}, {"a": None})
    found = [json.loads(body.content)["instances"][0] for body in exemplars(workload, "tfserving")]
    assert found == [{"a": [1, 2]}, {"a": [1]}, {"b": "t"}, {"a": None}]
    assert len(exemplars(random_pool(), "tfserving")) == 1


def test_what_cannot_be_used_is_refused_with_file_and_reason(tmp_path: Path) -> None:
    (tmp_path / "no.npy").write_text("hello")
    (tmp_path / "bad.jsonl").write_text('{"a": 1}\n{"a": \n')
    (tmp_path / "empty.jsonl").write_text("\n")
    np.save(tmp_path / "complex.npy", np.array([1j]))
    np.save(tmp_path / "scalar.npy", np.float32(1))
    np.save(tmp_path / "empty.npy", np.zeros((0, 3)))
    for name in ("no.npy", "complex.npy", "scalar.npy", "empty.npy", "absent.npy"):
        with pytest.raises(PayloadError, match=name):
            bodies(Workload(Payloads(npy=tmp_path / name)), "tfserving")
    for name in ("bad.jsonl:2", "empty.jsonl", "absent.jsonl"):
        with pytest.raises(PayloadError, match=name):
            bodies(Workload(Payloads(jsonl=tmp_path / name.partition(":")[0])), "tfserving")
    with pytest.raises(PayloadError, match="names no payloads"):
        bodies(Workload(Payloads()), "tfserving")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(PayloadError, match=r"x\.npy"):
        bodies(Workload(Payloads(npy=tmp_path / "x.npy")), "tfserving")


def test_nan_is_refused_unless_allowed_and_then_for_tf_serving_only(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([np.nan]))
    workload = Workload(Payloads(npy=tmp_path / "x.npy"))
    for kind in TARGETS:
        with pytest.raises(PayloadError, match=r"NaN.*instance 1 of .*x\.npy"):
            bodies(workload, kind)
    allowed = replace(workload, allow_nan=True)
    assert bodies(allowed, "tfserving") == [b'{"instances":[NaN]}']
    with pytest.raises(PayloadError, match="NaN"):
        bodies(allowed, "http")
