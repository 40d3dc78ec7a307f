"""In which outcome class did an answered Predict end? Decoded, its outputs, its numbers, marks of a fallback."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.message import DecodeError

from controller.generator import ledger
from controller.generator.client import Reply
from controller.generator.likeness import alike
from controller.plans.answer_rules import Degraded
from controller.serving.outputs import as_rest, is_finite, values_of
from controller.serving.protos import tfserving_api_pb2 as api

WHOLE_BYTES = 65_536
"""Answers up to this size are always decoded: it costs as much as to copy them."""

EVERY = 16
"""Of larger answers one in so many is."""

MOST_VERSIONS = 20
"""Versions of the model that are told apart; there is one, and another after a change."""


class PredictCheck:
    """Judges answers for one process, and counts them by the version of the model that they name."""

    def __init__(
        self,
        required: Sequence[str],
        *,
        allow_nan: bool,
        degraded: Degraded | None = None,
        expected: Mapping[bytes, Any] | None = None,
        tolerance: float = 0.0,
    ) -> None:
        """`required` are names of outputs; without any, one output has to be there. `expected` maps requests to what
        REST would answer to the same, in either form."""
        self._required = tuple(required)
        self._allow_nan = allow_nan
        self._degraded = degraded
        self._expected, self._tolerance = expected, tolerance
        self._always = degraded is not None or expected is not None
        self._large = 0
        self.versions: Counter[int] = Counter()  # answers that were decoded, by number

    def outcome(self, request: Any, reply: Reply) -> int:
        """`ok`, `degraded` or `invalid_response`."""
        body = reply.body
        if len(body) > WHOLE_BYTES and not self._always:
            self._large += 1
            if self._large % EVERY != 1:
                return ledger.OK
        try:
            answer = api.PredictResponse.FromString(body)
            return self._of(request, reply, answer)
        except (DecodeError, ValueError):
            return ledger.INVALID_RESPONSE

    def _of(self, request: Any, reply: Reply, answer: Any) -> int:
        version = answer.model_spec.version.value
        if version in self.versions or len(self.versions) < MOST_VERSIONS:
            self.versions[version] += 1
        outputs = answer.outputs
        if not outputs or any(name not in outputs for name in self._required):
            return ledger.INVALID_RESPONSE
        if not self._allow_nan and not all(map(is_finite, outputs.values())):
            return ledger.INVALID_RESPONSE
        if self._degraded is not None and _marked(self._degraded, reply, outputs):
            return ledger.DEGRADED
        if self._expected is not None and request in self._expected:
            right = alike(self._expected[request], as_rest(outputs), self._tolerance)
            return ledger.OK if right else ledger.INVALID_RESPONSE
        return ledger.OK


def _marked(rule: Degraded, reply: Reply, outputs: Mapping[str, Any]) -> bool:
    """An output of that name, every value of which reads so; or metadata of that name with the answer."""
    if rule.header is not None:
        value = reply.header(rule.header.lower().encode())
        return value is not None and rule.value in (None, value.decode("latin-1"))
    if rule.field is None or rule.field not in outputs:
        return False
    return rule.value is None or set(_texts(values_of(outputs[rule.field]))) == {rule.value}


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value if isinstance(value, str) else json.dumps(value)]
