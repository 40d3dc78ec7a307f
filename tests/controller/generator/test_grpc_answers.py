"""Which class an answered Predict is of: outputs, numbers, marks of a fallback, known answers, versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from controller.generator import ledger
from controller.generator.grpc_answers import EVERY, WHOLE_BYTES, PredictCheck
from controller.generator.grpc_client import GrpcReply
from controller.plans.answer_rules import Degraded
from controller.serving.outputs import as_rest, values_of
from controller.serving.protos import tfserving_api_pb2 as api
from controller.serving.protos import tfserving_tensor_pb2 as tensor
from tests.controller.generator.grpc_server import answer


def outcome(body: bytes, request: bytes = b"", told: Any = (), required: Any = (), **rules: Any) -> str:
    """The class's name."""
    found = PredictCheck(required, **{"allow_nan": False, **rules}).outcome(request, GrpcReply(body, told=told))
    return {ledger.OK: "ok", ledger.DEGRADED: "degraded", ledger.INVALID_RESPONSE: "invalid"}[found]


def test_outputs_have_to_be_there_and_finite() -> None:
    assert outcome(answer([0.5])) == "ok"
    assert outcome(answer([0.5]), required=("scores",)) == "ok"
    assert outcome(answer([0.5]), required=("scores", "labels")) == "invalid"
    assert outcome(b"") == "invalid"
    assert outcome(b"\xff\xff") == "invalid"
    for wrong in (np.nan, np.inf, -np.inf):
        assert outcome(answer([0.5, wrong])) == "invalid"
        assert outcome(answer([0.5, wrong]), allow_nan=True) == "ok"


def test_numbers_that_are_not_packed_are_looked_at_too() -> None:
    made = api.PredictResponse()
    proto = made.outputs["y"]
    proto.dtype = tensor.DT_DOUBLE
    proto.double_val.extend([1.0, float("nan")])
    assert outcome(made.SerializeToString()) == "invalid"


def test_of_large_answers_one_in_so_many_is_decoded_and_the_others_pass() -> None:
    body, check = answer(np.full(WHOLE_BYTES, np.nan)), PredictCheck((), allow_nan=False)
    found = [check.outcome(b"", GrpcReply(body)) for _ in range(2 * EVERY)]
    assert found.count(ledger.INVALID_RESPONSE) == 2
    assert found[0] == ledger.INVALID_RESPONSE


def test_a_fallback_is_known_by_an_output_or_by_metadata() -> None:
    cached = answer([0.5], source=["cache"])
    assert outcome(cached, degraded=Degraded(field="source", value="cache")) == "degraded"
    assert outcome(cached, degraded=Degraded(field="source", value="model")) == "ok"
    assert outcome(cached, degraded=Degraded(field="source")) == "degraded"
    assert outcome(cached, degraded=Degraded(field="other")) == "ok"
    assert outcome(answer([0.5, 0.5]), degraded=Degraded(field="scores", value="0.5")) == "degraded"
    told = (("x-fallback", "yes"),)
    assert outcome(cached, told=told, degraded=Degraded(header="X-Fallback", value="yes")) == "degraded"
    assert outcome(cached, told=told, degraded=Degraded(header="X-Fallback", value="no")) == "ok"
    assert outcome(cached, degraded=Degraded(header="X-Fallback")) == "ok"


@pytest.mark.parametrize("expected", [{"outputs": [[0.25, 0.75]]}, {"predictions": [[0.25, 0.75]]}])
def test_known_answers_are_those_of_rest_in_either_form(expected: Any) -> None:
    known = {"expected": {b"a": expected}, "tolerance": 1e-6}
    assert outcome(answer([[0.25, 0.75]]), b"a", **known) == "ok"
    assert outcome(answer([[0.25, 0.74]]), b"a", **known) == "invalid"
    assert outcome(answer([[0.25]]), b"a", **known) == "invalid"
    assert outcome(answer([[9.0]]), b"another", **known) == "ok"


def test_several_outputs_are_objects_as_over_rest() -> None:
    outputs = api.PredictResponse.FromString(answer([[0.5], [0.25]], label=["cat", "dog"])).outputs
    assert as_rest(outputs) == {
        "outputs": {"scores": [[0.5], [0.25]], "label": ["cat", "dog"]},
        "predictions": [{"scores": [0.5], "label": "cat"}, {"scores": [0.25], "label": "dog"}],
    }


@pytest.mark.parametrize(
    ("dtype", "field", "given", "value"),
    [
        (tensor.DT_INT32, "int_val", [1, 2], [1, 2]),
        (tensor.DT_INT64, "int64_val", [7], [7, 7]),
        (tensor.DT_BOOL, "bool_val", [True, False], [True, False]),
        (tensor.DT_HALF, "half_val", [0x3C00, 0x4000], [1.0, 2.0]),
        (tensor.DT_DOUBLE, "double_val", [0.5, 1.5], [0.5, 1.5]),
        (tensor.DT_STRING, "string_val", [b"a", b"b"], ["a", "b"]),
    ],
)
def test_every_way_to_write_a_tensor_is_read(dtype: Any, field: str, given: list[Any], value: Any) -> None:
    proto = tensor.TensorProto(dtype=dtype)
    proto.tensor_shape.dim.add(size=2)
    getattr(proto, field).extend(given)
    assert values_of(proto) == value


def test_a_tensor_that_does_not_fill_its_shape_is_invalid() -> None:
    made = api.PredictResponse.FromString(answer([0.5, 0.25]))
    made.outputs["scores"].tensor_shape.dim[0].size = 3
    assert outcome(made.SerializeToString(), degraded=Degraded(field="scores", value="1")) == "invalid"


def test_versions_are_counted() -> None:
    check = PredictCheck((), allow_nan=False)
    for version in (3, 3, 4):
        check.outcome(b"", GrpcReply(answer([1.0], version=version)))
    assert dict(check.versions) == {3: 2, 4: 1}
