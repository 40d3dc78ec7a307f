from __future__ import annotations

import errno
import json
import socket

import pytest
from gevent import Timeout

from controller.generator import ledger
from controller.generator.answers import EVERY, WHOLE_BYTES, AnswerCheck, outcome_of
from controller.generator.connection import BadAnswerError, ConnectionLostError

CHECK = AnswerCheck(["predictions"])
LARGE = json.dumps({"predictions": [0.5] * WHOLE_BYTES}).encode()


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b'{"predictions": [1]}', ledger.OK),
        (200, b'{"predictions": [NaN]}', ledger.OK),  # TF Serving writes it
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
    assert AnswerCheck(["predictions"]).outcome(status, body) == outcome


def test_without_required_fields_any_body_will_do() -> None:
    assert AnswerCheck([]).outcome(200, b"pong") == ledger.OK


def test_large_answers_are_parsed_whole_one_in_so_many() -> None:
    check = AnswerCheck(["predictions"])
    broken = LARGE[:-2] + b",]}"  # carries the name and ends well, but is not JSON
    found = [check.outcome(200, broken) for _ in range(2 * EVERY)]
    assert found.count(ledger.INVALID_RESPONSE) == 2
    assert found[0] == ledger.INVALID_RESPONSE
    assert AnswerCheck(["predictions"]).outcome(200, LARGE[:-1]) == ledger.INVALID_RESPONSE
    assert check.outcome(200, LARGE.replace(b"predictions", b"outputs")) == ledger.INVALID_RESPONSE


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Timeout(1.0), ledger.TIMEOUT),
        (TimeoutError(errno.ETIMEDOUT, "timed out"), ledger.TIMEOUT),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), ledger.CONNECTION_ERROR),
        (ConnectionResetError(errno.ECONNRESET, "reset"), ledger.CONNECTION_ERROR),
        (ConnectionLostError("cut"), ledger.CONNECTION_ERROR),
        (socket.gaierror(socket.EAI_NONAME, "no name"), ledger.CONNECTION_ERROR),
        (OSError(errno.EMFILE, "too many open files"), ledger.GENERATOR_ERROR),
        (OSError(errno.EADDRNOTAVAIL, "no port"), ledger.GENERATOR_ERROR),
        (BadAnswerError("garbage"), ledger.INVALID_RESPONSE),
        (KeyError("ours"), ledger.GENERATOR_ERROR),
    ],
)
def test_what_went_wrong_has_one_class(error: BaseException, outcome: int) -> None:
    assert outcome_of(error) == outcome
