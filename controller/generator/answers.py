"""In which outcome class did a request end? Decided from the answer, or from what went wrong instead.

The check of an answer has to be cheap, because it runs in the process that measures. Answers of up to 1 KiB are parsed
whole; of larger ones every 64th is, and the others only have to carry each required name in quotes and to end like a
JSON object. So a large broken answer that looks whole can pass as `ok` in 63 of 64 cases: for large answers the number
of `invalid_response` is a lower bound.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence

from gevent import Timeout

from controller.generator import ledger
from controller.generator.connection import BadAnswerError

WHOLE_BYTES = 1024
"""Answers up to this size are always parsed whole."""

EVERY = 64
"""Of larger answers one in so many is parsed whole."""

GENERATOR_ERRNOS = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM})
"""Failures of this machine, not of the target: no descriptor, no local port, no memory."""


class AnswerCheck:
    """Judges answers for one process; it remembers only how many large ones it has seen."""

    def __init__(self, required: Sequence[str]) -> None:
        """`required` are top-level names of the answer's JSON object; none means: any body will do."""
        self._required = tuple(required)
        self._quoted = tuple(json.dumps(name).encode() for name in required)
        self._large = 0

    def outcome(self, status: int, body: bytes) -> int:
        """`ok`, `http_error` or `invalid_response`."""
        if status != 200:
            return ledger.HTTP_ERROR
        if not self._quoted or self._valid(body):
            return ledger.OK
        return ledger.INVALID_RESPONSE

    def _valid(self, body: bytes) -> bool:
        if len(body) > WHOLE_BYTES:
            self._large += 1
            if self._large % EVERY != 1:
                return body.rstrip().endswith(b"}") and all(name in body for name in self._quoted)
        try:
            answer = _decode(body.decode())
        except (ValueError, RecursionError):  # nested deeper than any answer of a model
            return False
        return isinstance(answer, dict) and all(name in answer for name in self._required)


_decode = json.JSONDecoder().decode  # `json.loads` would first guess the encoding of every answer


def outcome_of(error: BaseException) -> int:
    """The class of a request that got no answer."""
    match error:
        case Timeout() | TimeoutError():
            return ledger.TIMEOUT
        case BadAnswerError():
            return ledger.INVALID_RESPONSE
        case OSError() if error.errno not in GENERATOR_ERRNOS:
            return ledger.CONNECTION_ERROR
        case _:
            return ledger.GENERATOR_ERROR
