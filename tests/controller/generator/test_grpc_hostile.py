"""Every call to a gRPC server that misbehaves ends in exactly one class, and in time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import grpc
import pytest

from controller.serving.protos import tfserving_api_pb2 as api
from tests.controller.generator.grpc_server import a_grpc_server, answer, good
from tests.controller.generator.hostile import CASES, Hostile
from tests.controller.generator.sending import TIMEOUT

pytestmark = pytest.mark.slow

SLACK = 1.5
"""How much longer than the timeout a call may take on a busy machine, seconds."""

NO_GRPC = {
    "silence": "timeout",
    "slow headers": "invalid_response",
    "reset at once": "connection_error",
    "closed at once": "connection_error",
    "not HTTP": "invalid_response",
    "HTTP/1.0": "invalid_response",
    "100-continue first": "invalid_response",
    "infinite drip": "invalid_response",
    "infinite body": "invalid_response",
}
"""Servers that speak something else, by their names in the list for HTTP."""


def aborts(code: grpc.StatusCode) -> Callable[[bytes, Any], bytes]:
    """Says this status."""

    def predict(_request: bytes, call: Any) -> bytes:
        call.abort(code, "as asked")
        return b""

    return predict


def breaks(_request: bytes, _call: Any) -> bytes:
    raise RuntimeError("a mistake in the server")


def sleeps(_request: bytes, _call: Any) -> bytes:
    time.sleep(2 * TIMEOUT)
    return answer([1.0])


PREDICTS: dict[str, tuple[Callable[[bytes, Any], bytes], str]] = {
    "good": (good, "ok"),
    "large and good": (lambda _r, _c: answer([0.5] * 200_000), "ok"),
    "no message": (lambda _r, _c: b"\xff\xff\xff\xff", "invalid_response"),
    "no outputs": (lambda _r, _c: api.PredictResponse().SerializeToString(), "invalid_response"),
    "NaN": (lambda _r, _c: answer([0.5, float("nan")]), "invalid_response"),
    "Infinity": (lambda _r, _c: answer([[float("inf")]]), "invalid_response"),
    "larger than the limit": (lambda _r, _c: answer([0.5] * 300_000), "generator_error"),
    "too slow": (sleeps, "timeout"),
    "breaks": (breaks, "http_error"),
    **{
        f"says {code.name}": (aborts(code), "timeout" if code is grpc.StatusCode.DEADLINE_EXCEEDED else "http_error")
        for code in grpc.StatusCode
        if code is not grpc.StatusCode.OK
    },
}


def test_each_call_ends_in_one_class_and_in_time() -> None:
    with ExitStack() as stack:
        raw = [stack.enter_context(Hostile(CASES[case][0])).sockaddr[1] for case in NO_GRPC]
        served = [stack.enter_context(a_grpc_server(predict)).port for predict, _ in PREDICTS.values()]
        addresses = [f"127.0.0.1:{port}" for port in (*raw, *served)]
        command = [sys.executable, "-m", "tests.controller.generator.grpc_once", *addresses]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found = dict(zip((*NO_GRPC, *PREDICTS), json.loads(done.stdout), strict=True))
    expected = NO_GRPC | {name: outcome for name, (_, outcome) in PREDICTS.items()}
    told = {name: (outcomes, reasons) for name, (outcomes, reasons, _, _) in found.items()}
    assert {name: outcomes for name, (outcomes, *_) in found.items()} == {
        name: {outcome: 3} for name, outcome in expected.items()
    }, told
    assert all(longest < TIMEOUT + SLACK for _, _, longest, _ in found.values())
    assert all(ended == [3, 3] for *_, ended in found.values())
