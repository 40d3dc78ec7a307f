from __future__ import annotations

import json
import socket
from typing import Any, Literal

import pytest

from controller.generator.http_request import Address, SpecError, address, path, requests, required_fields
from controller.generator.resolve import resolve
from controller.generator_spec import GeneratorSpec, decode_spec, encode_spec
from controller.plans.plan import Payloads, Target, Workload
from tests.controller.generator.target import Target as Listening

POOL = Payloads(random_shape=(2,), count=4)


def served(**more: Any) -> Target:
    return Target("tfserving", "http://127.0.0.1:8501", **{"model": "m", **more})


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (served(), "/v1/models/m:predict"),
        (served(version=3), "/v1/models/m/versions/3:predict"),
        (served(label="canary x"), "/v1/models/m/labels/canary%20x:predict"),
        (served(model="a/b"), "/v1/models/a%2Fb:predict"),
        (Target("tfserving", "http://h/behind/proxy", model="m"), "/behind/proxy/v1/models/m:predict"),
    ],
)
def test_a_model_is_addressed_as_tf_serving_wants_it(target: Target, expected: str) -> None:
    assert path(target, Workload(POOL)) == expected


def test_an_http_target_gets_its_own_path() -> None:
    target = Target("http", "http://127.0.0.1:9000")
    assert path(target, Workload(POOL, path="/score")) == "/score"
    assert path(target, Workload(POOL)) == "/"


def test_a_request_is_complete_and_its_length_is_true() -> None:
    workload = Workload(POOL, headers=(("X-Team", "ü"), ("content-type", "application/x")))
    spec = GeneratorSpec("r", "p", served(), workload, workers=2)
    encoded = requests(spec, 0) + requests(spec, 1)
    assert len(set(encoded)) == 4
    for request in encoded:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        assert lines[0] == "POST /v1/models/m:predict HTTP/1.1"
        assert set(lines[1:]) == {
            "Host: 127.0.0.1:8501",
            "X-Team: ü",
            "content-type: application/x",
            f"Content-Length: {len(body)}",
        }
        assert len(json.loads(body)["instances"]) == 1


@pytest.mark.parametrize("header", [("A", "1\r\nB: 2"), ("Content-Length", "1"), ("A", "λ")])
def test_headers_that_would_break_the_request_are_refused(header: tuple[str, str]) -> None:
    with pytest.raises(SpecError):
        requests(GeneratorSpec("r", "p", served(), Workload(POOL, headers=(header,)), 1), 0)


def test_a_name_is_resolved_to_the_address_that_answers() -> None:
    target = Listening()
    family, sockaddr = resolve(Address("localhost", target.port))
    assert (family, sockaddr[:2]) == (socket.AF_INET, ("127.0.0.1", target.port))
    with pytest.raises(SpecError, match="could not resolve"):
        resolve(Address("no-such-host.invalid", 1))


def test_http_is_spoken_plain_or_encrypted_or_over_a_socket() -> None:
    assert address(Target("http", "http://[::1]:90")) == Address("::1", 90)
    assert address(Target("http", "http://h")) == Address("h", 80)
    assert address(Target("http", "https://h")) == Address("h", 443, secure=True)
    assert address(Target("http", "unix:///run/m.sock")) == Address("localhost", 80, socket="/run/m.sock")
    assert resolve(address(Target("http", "unix:///run/m.sock"))) == (socket.AF_UNIX, "/run/m.sock")
    with pytest.raises(SpecError, match="has to begin with"):
        address(Target("http", "ftp://h"))
    with pytest.raises(SpecError, match="names none"):
        path(served(model=None), Workload(POOL))


@pytest.mark.parametrize(("form", "fields"), [("row", ("predictions",)), ("column", ("outputs",))])
def test_the_fields_of_tf_servings_answer_are_required_unless_told(
    form: Literal["row", "column"], fields: tuple[str, ...]
) -> None:
    assert required_fields(served(), Workload(POOL, form=form)) == fields
    assert required_fields(served(), Workload(POOL, form=form, required_fields=("a",))) == ("a",)
    assert required_fields(Target("http", "http://h"), Workload(POOL)) == ()


def test_a_specification_survives_its_way_to_the_processes() -> None:
    spec = GeneratorSpec("r", "p", served(version=2), Workload(POOL, headers=(("a", "b"),)), 3)
    assert decode_spec(encode_spec(spec)) == spec
    with pytest.raises(ValueError, match="workers"):
        decode_spec(encode_spec(spec).replace(b'"workers":3', b'"workers":"many"'))
