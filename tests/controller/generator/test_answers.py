from __future__ import annotations

import errno
import json
import socket
from dataclasses import dataclass, field

import pytest
from gevent import Timeout

from controller.generator import ledger
from controller.generator.answer import BadAnswerError, ConnectionLostError
from controller.generator.answers import EVERY, WHOLE_BYTES, AnswerCheck
from controller.generator.connection import ConnectTimeoutError
from controller.generator.failures import outcome_of
from controller.plans.answer_rules import Degraded

LARGE = json.dumps({"predictions": [0.5] * WHOLE_BYTES}).encode()


@dataclass(frozen=True)
class Given:
    """A reply as it came."""

    status: int
    body: bytes
    headers: dict[bytes, bytes] = field(default_factory=dict)

    def header(self, name: bytes) -> bytes | None:
        return self.headers.get(name)


def judged(check: AnswerCheck, body: bytes, status: int = 200, request: bytes = b"", **headers: bytes) -> int:
    return check.outcome(request, Given(status, body, {name.encode(): value for name, value in headers.items()}))


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b'{"predictions": [1]}', ledger.OK),
        (200, b'{"predictions": [NaN]}', ledger.INVALID_RESPONSE),  # TF Serving writes it
        (200, b'{"predictions": [-Infinity]}', ledger.INVALID_RESPONSE),
        (200, b'{"predictions": ["NaN"]}', ledger.OK),  # a text
        (200, b'{"predictions": [1]', ledger.INVALID_RESPONSE),
        (200, b'{"outputs": {"predictions": 1}}', ledger.INVALID_RESPONSE),  # not where it belongs
        (200, b'["predictions"]', ledger.INVALID_RESPONSE),
        (200, b"\xff\xfe", ledger.INVALID_RESPONSE),
        (200, b"", ledger.INVALID_RESPONSE),
        (200, b"[" * 100_000, ledger.INVALID_RESPONSE),
        (200, LARGE, ledger.OK),
        (201, b'{"predictions": [1]}', ledger.HTTP_ERROR),
        (503, b"", ledger.HTTP_ERROR),
    ],
)
def test_an_answer_is_judged_by_status_and_required_fields(status: int, body: bytes, outcome: int) -> None:
    assert judged(AnswerCheck(["predictions"]), body, status) == outcome


def test_without_required_fields_any_body_will_do() -> None:
    assert judged(AnswerCheck([]), b"pong") == ledger.OK


def test_large_answers_are_parsed_whole_one_in_so_many() -> None:
    check = AnswerCheck(["predictions"])
    broken = LARGE[:-2] + b",]}"  # carries the name and ends well, but is not JSON
    found = [judged(check, broken[:-2] + b" " * number + b"]}") for number in range(2 * EVERY)]
    assert found.count(ledger.INVALID_RESPONSE) == 2
    assert found[0] == ledger.INVALID_RESPONSE
    assert judged(AnswerCheck(["predictions"]), LARGE[:-1]) == ledger.INVALID_RESPONSE
    assert judged(check, LARGE.replace(b"predictions", b"outputs")) == ledger.INVALID_RESPONSE


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Timeout(1.0), ledger.TIMEOUT),
        (TimeoutError(errno.ETIMEDOUT, "timed out"), ledger.TIMEOUT),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), ledger.CONNECTION_ERROR),
        (ConnectionResetError(errno.ECONNRESET, "reset"), ledger.CONNECTION_ERROR),
        (ConnectionLostError("cut"), ledger.CONNECTION_ERROR),
        (ConnectTimeoutError("no connection within 1 s"), ledger.CONNECTION_ERROR),
        (socket.gaierror(socket.EAI_NONAME, "no name"), ledger.GENERATOR_ERROR),
        (OSError(errno.EMFILE, "too many open files"), ledger.GENERATOR_ERROR),
        (OSError(errno.EADDRNOTAVAIL, "no port"), ledger.GENERATOR_ERROR),
        (BadAnswerError("garbage"), ledger.INVALID_RESPONSE),
        (KeyError("ours"), ledger.GENERATOR_ERROR),
    ],
)
def test_what_went_wrong_has_one_class(error: BaseException, outcome: int) -> None:
    assert outcome_of(error) == outcome


def test_numbers_that_are_not_finite_are_found_in_large_answers_too_and_may_be_allowed() -> None:
    check = AnswerCheck(["predictions"])
    judged(check, LARGE)
    spoiled = LARGE.replace(b"0.5]", b"NaN]")
    assert judged(check, spoiled) == ledger.INVALID_RESPONSE
    assert judged(AnswerCheck(["predictions"], allow_nan=True), spoiled) == ledger.OK
    assert judged(AnswerCheck(["predictions"], allow_nan=True), b'{"predictions": [NaN]}') == ledger.OK


def test_the_plan_says_which_statuses_are_good() -> None:
    check = AnswerCheck(status=[200, 202])
    assert [judged(check, b"", status) for status in (200, 202, 201)] == [ledger.OK, ledger.OK, ledger.HTTP_ERROR]


@pytest.mark.parametrize(
    ("rule", "body", "outcome"),
    [
        (Degraded(field="source"), b'{"a": 1, "source": "x"}', ledger.DEGRADED),
        (Degraded(field="source"), b'{"a": 1}', ledger.OK),
        (Degraded(field="source", value="fallback"), b'{"a": 1, "source": "fallback"}', ledger.DEGRADED),
        (Degraded(field="source", value="fallback"), b'{"a": 1, "source": "model"}', ledger.OK),
        (Degraded(field="stale", value="true"), b'{"a": 1, "stale": true}', ledger.DEGRADED),
        (Degraded(field="source"), b'{"source": "x"}', ledger.INVALID_RESPONSE),  # unusable whoever wrote it
    ],
)
def test_a_fallback_is_known_by_a_field(rule: Degraded, body: bytes, outcome: int) -> None:
    assert judged(AnswerCheck(["a"], degraded=rule), body) == outcome


def test_a_fallback_is_known_by_a_header() -> None:
    check = AnswerCheck(["a"], degraded=Degraded(header="Fallback", value="1"))
    said = [judged(check, b'{"a": 1}', fallback=value) for value in (b"1", b"0")]
    assert said == [ledger.DEGRADED, ledger.OK]
    assert judged(check, b'{"a": 1}') == ledger.OK


def test_known_answers_are_compared_within_a_tolerance() -> None:
    known = {b"q1": {"predictions": [0.5]}, b"q2": {"predictions": [[1, "a"]]}}
    check = AnswerCheck(["predictions"], expected=known, tolerance=0.01)
    assert judged(check, b'{"predictions": [0.504], "more": 1}', request=b"q1") == ledger.OK
    assert judged(check, b'{"predictions": [0.52]}', request=b"q1") == ledger.INVALID_RESPONSE
    assert judged(check, b'{"predictions": [0.5, 0.5]}', request=b"q1") == ledger.INVALID_RESPONSE
    assert judged(check, b'{"predictions": [[1.0, "a"]]}', request=b"q2") == ledger.OK
    assert judged(check, b'{"predictions": [[1.0, "b"]]}', request=b"q2") == ledger.INVALID_RESPONSE
    assert judged(check, b'{"predictions": [[true, "a"]]}', request=b"q2") == ledger.INVALID_RESPONSE
