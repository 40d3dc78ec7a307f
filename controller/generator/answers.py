"""In which outcome class did an answered request end? The check has to be cheap: it runs in the process that measures.

Answers of up to 1 KiB are parsed whole; of larger ones every 64th is, and the others only have to carry each required
name in quotes and to end like a JSON object. So a large broken answer that looks whole can pass as `ok` in 63 of 64
cases: for large answers the number of `invalid_response` is a lower bound. Numbers that are not finite (TF Serving
writes bare NaN and Infinity) are found in answers of any size: where these words occur the answer is parsed whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from controller.generator import ledger
from controller.generator.client import Reply
from controller.generator.likeness import alike
from controller.plans.answer_rules import Degraded

WHOLE_BYTES = 1024
"""Answers up to this size are always parsed whole."""

EVERY = 64
"""Of larger answers one in so many is parsed whole."""


class AnswerCheck:
    """Judges answers for one process; it remembers how many large ones it has seen, and the last one it parsed."""

    __slots__ = (
        "_degraded",
        "_expected",
        "_large",
        "_last",
        "_last_outcome",
        "_plain",
        "_quoted",
        "_required",
        "_status",
    )

    def __init__(
        self,
        required: Sequence[str] = (),
        *,
        status: Sequence[int] = (200,),
        allow_nan: bool = False,
        degraded: Degraded | None = None,
        expected: Mapping[bytes, Any] | None = None,
        tolerance: float = 0.0,
    ) -> None:
        """`required` are top-level names of the answer's JSON object; none means: any body will do. `expected` maps
        requests to the answers they have to get."""
        self._required = tuple(required)
        self._quoted = tuple(json.dumps(name).encode() for name in required)
        self._status = frozenset(status)
        self._plain = _Strict(allow_nan)
        self._degraded = degraded
        self._expected = None if expected is None else (expected, tolerance)
        self._large = 0
        self._last: bytes | None = None  # the newest body that was parsed whole
        self._last_outcome = ledger.OK

    def outcome(self, request: Any, reply: Reply) -> int:
        """`ok`, `degraded`, `http_error` or `invalid_response`."""
        if reply.status not in self._status:
            return ledger.HTTP_ERROR
        if not self._required and self._degraded is None and self._expected is None:
            return ledger.OK
        body = reply.body
        found = self._last_outcome if body == self._last else self._of_body(body)
        if found == ledger.OK and self._degraded is not None and self._marked(self._degraded, reply):
            return ledger.DEGRADED
        if found == ledger.OK and self._expected is not None and not self._right(request, body):
            return ledger.INVALID_RESPONSE
        return found

    def _of_body(self, body: bytes) -> int:
        if not self._required:
            return ledger.OK
        whole = len(body) <= WHOLE_BYTES
        if not whole:
            self._large += 1
            whole = self._large % EVERY == 1 or self._plain.suspects(body)
        if not whole:
            looks = body.rstrip().endswith(b"}") and all(name in body for name in self._quoted)
            return ledger.OK if looks else ledger.INVALID_RESPONSE
        answer = self._plain.parsed(body)
        good = isinstance(answer, dict) and all(name in answer for name in self._required)
        self._last, self._last_outcome = body, ledger.OK if good else ledger.INVALID_RESPONSE
        return self._last_outcome

    def _marked(self, rule: Degraded, reply: Reply) -> bool:
        if rule.header is not None:
            value = reply.header(rule.header.lower().encode())
            return value is not None and rule.value in (None, value.decode("latin-1"))
        answer = self._plain.parsed(reply.body)
        if not isinstance(answer, dict) or rule.field not in answer:
            return False
        value = answer[rule.field]
        return rule.value is None or rule.value == (value if isinstance(value, str) else json.dumps(value))

    def _right(self, request: Any, body: bytes) -> bool:
        if self._expected is None:
            return True
        expected, tolerance = self._expected
        return request not in expected or alike(expected[request], self._plain.parsed(body), tolerance)


class _Strict:
    """JSON as the plan wants it: with or without NaN and Infinity."""

    __slots__ = ("_allow_nan", "_decode")

    def __init__(self, allow_nan: bool) -> None:
        self._allow_nan = allow_nan
        decoder = json.JSONDecoder() if allow_nan else json.JSONDecoder(parse_constant=_refuse)
        self._decode = decoder.decode  # `json.loads` would first guess the encoding of every answer

    def suspects(self, body: bytes) -> bool:
        """Whether the words occur; perhaps only inside a text."""
        return not self._allow_nan and (b"NaN" in body or b"Infinity" in body)

    def parsed(self, body: bytes) -> Any:
        """The value, or None for what is not JSON."""
        try:
            return self._decode(body.decode())
        except (ValueError, RecursionError):  # also nested deeper than any answer of a model
            return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
