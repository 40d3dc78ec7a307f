"""Broken payload files as people have them: each refused before load in sentences with file, place, key and remedy."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controller.plans.loader import load_plan
from controller.plans.payload_contents import MOST_PROBLEMS, Wanted, problems_in
from controller.plans.payloads import bodies
from controller.plans.plan import Payloads, Workload
from controller.plans.pools import PayloadError, pool_of
from controller.plans.problems import PlanError

PLAN = """version: 1
name: p
target: {kind: %s, rest: "http://127.0.0.1:8501"%s}
workload: {payloads: {%s: file%s}%s}
stages:
  - {name: steady, kind: hold, users: 5, for: 30s}
"""


def problems(folder: Path, source: str, *, kind: str = "tfserving", rows: int = 1, more: str = "") -> list[str]:
    """What is wrong with a plan that has the file `file`."""
    served = ", model: m" if kind == "tfserving" else ""
    path = "" if kind == "tfserving" or source == "requests" else ", path: /p"
    (folder / "plan.yaml").write_text(PLAN % (kind, served, source, f", rows: {rows}" if rows > 1 else "", path + more))
    try:
        load_plan(folder / "plan.yaml")
    except PlanError as error:
        return [f"{problem.key}: {problem.message}; {problem.remedy}" for problem in error.problems]
    return []


def npy(path: Path, values: Any, *, order: Any = "C", pickled: bool = False) -> None:
    with path.open("wb") as file:
        np.save(file, np.asarray(values, order=order), allow_pickle=pickled)


def header_only(path: Path) -> None:
    npy(path, np.ones((4, 4)))
    path.write_bytes(path.read_bytes()[:40])


def archive(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, a=np.ones(3))


def half(path: Path) -> None:
    npy(path, np.ones((100, 4)))
    path.write_bytes(path.read_bytes()[:-1600])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda p: npy(p, [{"a": 1}], pickled=True), "holds Python objects, which are pickles and never loaded"),
        (lambda p: npy(p, np.zeros(3, [("x", "f4"), ("y", "i4")])), "holds records of x, y, not numbers"),
        (lambda p: npy(p, [1 + 1j]), "holds complex128, not numbers"),
        (lambda p: npy(p, np.ones(3, np.longdouble)), "holds float128, not numbers"),
        (lambda p: npy(p, np.array(["2026-01-01"], "M8[D]")), "holds datetime64[D], not numbers"),
        (lambda p: npy(p, np.zeros((0, 4))), "has the shape (0, 4): no instance; save at least one row"),
        (lambda p: npy(p, np.zeros((4, 0))), "has the shape (4, 0): no instance"),
        (lambda p: npy(p, 7.0), "has the shape (): no instance"),
        (half, "is not a whole .npy file (it has 1,728 of 3,328 bytes); copy or save it again"),
        (header_only, "is not a whole .npy file (its header cannot be read: "),
        (lambda p: p.write_bytes(b""), "is not a whole .npy file (it does not begin as one); write it with numpy.save"),
        (lambda p: p.write_bytes(os.urandom(4000)), "is not a whole .npy file (it does not begin as one)"),
        (lambda p: p.write_bytes(b"\x93NUMPY\x09\x00" + b"z" * 99), "is not a whole .npy file (its header"),
        (lambda p: p.write_bytes(gzip.compress(b"z" * 99)), "is compressed with gzip; unpack it with gunzip"),
        (lambda p: p.write_bytes(pickle.dumps([1, 2])), "is a pickle, which could run code and is never loaded"),
        (archive, "is an archive of arrays; save one array with numpy.save"),
    ],
)
def test_an_array_that_cannot_be_sent_is_refused_in_one_sentence(
    make: Callable[[Path], Any], sentence: str, tmp_path: Path
) -> None:
    make(tmp_path / "file")
    found = problems(tmp_path, "npy")
    assert len(found) == 1, found
    assert found[0].startswith(f"workload.payloads.npy: file {sentence}"), found
    with pytest.raises(PayloadError) as caught:
        pool_of(Payloads(npy=tmp_path / "file"))
    assert sentence.partition(";")[0] in str(caught.value)


class Bomb:
    """Leaves a trace where it is unpickled."""

    def __init__(self, trace: str) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return (Path.touch, (Path(self.trace),))


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    bomb = Bomb(str(tmp_path / "trace"))
    npy(tmp_path / "file", [bomb], pickled=True)
    assert problems(tmp_path, "npy")
    (tmp_path / "file").write_bytes(pickle.dumps(bomb))
    assert problems(tmp_path, "npy")
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("kind", ["<f8", ">f8", ">f4", "<f2", ">f2", "?", "<i8", ">i2", "u1", "<u8"])
def test_every_byte_order_and_size_is_the_same_json(kind: str, tmp_path: Path) -> None:
    plain = np.array([[1, 0], [0, 1], [1, 1]])
    for order in ("C", "F"):
        npy(tmp_path / "file", plain.astype(kind), order=order)
        assert problems(tmp_path, "npy") == []
        sent = bodies(Workload(Payloads(npy=tmp_path / "file", order="sequential")), "tfserving")
        assert [json.loads(body)["instances"][0] for body in sent] == plain.tolist()


@pytest.mark.parametrize(
    ("source", "content", "expected"),
    [
        ("jsonl", b"[[1,2],[3]]\n[[1,2],[3,4]]\n", ["line 1: a ragged list: entry 2 is not like entry 1"]),
        ("jsonl", b'{"x": [1, [2]]}\n', ["line 1: a ragged list: entry 2 is not like entry 1"]),
        ("jsonl", b"[1]\n[NaN]\n{\n[Infinity]\n", ["line 2: NaN", "line 3: not a JSON value", "line 4: NaN"]),
        ("jsonl", b"\x00\xff\xfe binary\n" * 2, ["line 1: not UTF-8 text (byte 2)", "line 2: not UTF-8 text (byte 2)"]),
        ("jsonl", b"[" + b"1," * (9 << 20) + b"1]\n", ["line 1: more than 16,777,216 bytes on one line"]),
        ("csv", b"1,2\n3\nx,4\n5,nan\n", ["line 2: 1 columns, and 2 before", "line 3: 'x', which", "line 4: NaN"]),
        ("csv", b"a,b\n1,\n", ["line 2: '', which is no number; keep to numbers"]),
        ("csv", b"1,2\n\x00\xff\n", ["the file: bytes that are not UTF-8 text"]),
        ("csv", b"1_000,2\n1_0,2\n", ["line 1: '1_000', which is no number", "line 2: '1_0', which is no number"]),
    ],
)
def test_every_bad_line_is_told_at_once(source: str, content: bytes, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    found = problems(tmp_path, source)
    assert len(found) == len(expected), found
    for told, wanted in zip(found, expected, strict=True):
        assert told.startswith(f"workload.payloads.{source}: file, {wanted}"), found
        assert "; " in told


def test_of_many_bad_lines_the_first_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"{\n" * 1000)
    assert len(problems(tmp_path, "jsonl")) == MOST_PROBLEMS


def test_instances_of_unlike_shapes_cannot_share_a_request(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("[1, 2]\n[1, 2]\n[1, 2, 3]\n")
    assert problems(tmp_path, "jsonl") == []  # each alone is for the server to judge
    (found,) = problems(tmp_path, "jsonl", rows=2)
    assert "line 3: an instance unlike that of line 1, and requests carry 2 together; give all instances" in found


def test_nan_is_sent_only_where_the_plan_and_the_protocol_allow_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("[NaN]\n")
    assert problems(tmp_path, "jsonl", more=", allow_nan: true") == []
    assert "clean the data, or set allow_nan: true" in problems(tmp_path, "jsonl")[0]
    assert problems(tmp_path, "jsonl", kind="http")[0].endswith("which is no JSON; clean the data")
    npy(tmp_path / "file", [[1.0, 2.0], [np.inf, 1.0], [1.0, np.nan]])
    assert problems(tmp_path, "npy") == [
        f"workload.payloads.npy: file, row {row}: NaN or Infinity; clean the data" for row in (2, 3)
    ]
    assert problems(tmp_path, "npy", more=", allow_nan: true") == []


def test_bodies_of_another_service_may_have_any_form(tmp_path: Path) -> None:
    (tmp_path / "file").write_text('{"words": [[1], [2, 3]]}\n"text"\n')
    assert problems(tmp_path, "jsonl", kind="http") == []


def test_marks_quotes_line_ends_and_blank_lines_of_spreadsheets_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b'\xef\xbb\xbf"x","y"\r\n\r\n"1","2.5"\r\n , \r\n3,"4"\r\n')
    assert problems(tmp_path, "csv", rows=2) == []
    sent = bodies(Workload(Payloads(csv=tmp_path / "file", order="sequential")), "tfserving")
    assert [json.loads(body)["instances"][0] for body in sent] == [[1.0, 2.5], [3.0, 4.0]]
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbf[1]\r\n\r\n[2]\r\n")
    assert problems(tmp_path, "jsonl", rows=2) == []
    sent = bodies(Workload(Payloads(jsonl=tmp_path / "file", order="sequential")), "tfserving")
    assert [json.loads(body)["instances"][0] for body in sent] == [[1], [2]]


@pytest.mark.parametrize("source", ["jsonl", "csv", "requests"])
def test_a_compressed_file_is_named_as_such(source: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(gzip.compress(b"[1]\n" * 100))
    kind = "http" if source == "requests" else "tfserving"
    found = problems(tmp_path, source, kind=kind)
    assert found == [f"workload.payloads.{source}: file is compressed with gzip; unpack it with gunzip"]


def test_a_file_of_two_gigabytes_is_checked_in_little_time_and_memory(tmp_path: Path) -> None:
    path, shape = tmp_path / "file", (524_288, 1024)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        file.truncate(file.tell() + 4 * shape[0] * shape[1])  # sparse: nothing is on the disk
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert problems(tmp_path, "npy") == []
    assert time.process_time() - began < 3.0
    assert len(pool_of(Payloads(npy=path))) == shape[0]
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 120
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4)
    assert "it has 2,147,483,772 of 2,147,483,776 bytes" in problems(tmp_path, "npy")[0]


def test_beyond_what_is_looked_at_when_a_plan_is_read_the_rest_is_looked_at_before_load(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"[1]\n" * 1000 + b"{\n")
    assert problems_in("jsonl", tmp_path / "file", Wanted(served=True), most=1000) == []
    (found,) = problems_in("jsonl", tmp_path / "file", Wanted(served=True), most=None)
    assert found.where == "line 1001"
