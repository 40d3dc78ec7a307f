"""The gRPC surface over a real channel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from google.protobuf.wrappers_pb2 import Int64Value

from compose.targets.protos import tfserving_api_pb2 as api_pb2
from compose.targets.protos import tfserving_tensor_pb2 as tensor_pb2

from .calls import Client, a_client, a_request
from .running import ROW, StandIn, a_stand_in, monitored

EXTRA = (
    "input size does not match signature: 2!=1 len({features,more}) != len({features}). Sent extra: {more}. "
    "Missing but required: {}."
)


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    options = monitored(tmp_path_factory.mktemp("grpc"))
    with a_stand_in("--port", "free", "--versions", "1,2", "--version_labels", "stable=1", *options) as running:
        yield running


@pytest.fixture
def client(stand_in: StandIn) -> Iterator[Client]:
    stand_in.script({})
    with a_client(stand_in.grpc) as client:
        yield client


def failure(call: Any, request: Any, **options: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as raised:
        call(request, timeout=5, **options)
    error: Any = raised.value
    return error.code(), error.details()


def test_grpc_and_rest_give_the_same_numbers_and_grpc_names_the_version(stand_in: StandIn, client: Client) -> None:
    response = client.predict(a_request([ROW, ROW]), timeout=5)
    scores = response.outputs["scores"]
    assert [dim.size for dim in scores.tensor_shape.dim] == [2, 3]
    by_rest = np.array(stand_in.predict().json()["predictions"][0], dtype=np.float32)
    assert np.array_equal(np.array(scores.float_val, dtype=np.float32), np.tile(by_rest, 2))
    assert response.model_spec.version.value == 2
    assert response.model_spec.signature_name == "serving_default"
    for spec in ({"version": Int64Value(value=1)}, {"version_label": "stable"}):
        assert client.predict(a_request([ROW], **spec), timeout=5).model_spec.version.value == 1


def test_raw_content_and_a_repeated_last_value_are_tensors_too(client: Client) -> None:
    plain = client.predict(a_request([ROW]), timeout=5).outputs["scores"].float_val
    packed = a_request([ROW])
    packed.inputs["features"].float_val[:] = []
    packed.inputs["features"].tensor_content = np.array(ROW, dtype="<f4").tobytes()
    assert client.predict(packed, timeout=5).outputs["scores"].float_val == plain
    short, full = a_request([[0.5] * 16]), a_request([[0.5] * 16])
    short.inputs["features"].float_val[:] = [0.5]
    assert client.predict(short, timeout=5) == client.predict(full, timeout=5)


def test_an_output_filter_leaves_the_others_out(client: Client) -> None:
    request = a_request([ROW[:8]], name="left", signature_name="pair")
    request.inputs["right"].CopyFrom(a_request([ROW[8:]]).inputs["features"])
    assert set(client.predict(request, timeout=5).outputs) == {"choice", "scores"}
    request.output_filter.append("choice")
    response = client.predict(request, timeout=5)
    assert set(response.outputs) == {"choice"}
    assert response.outputs["choice"].string_val[0] in {b"low", b"middle", b"high"}
    request.output_filter.append("nope")
    assert failure(client.predict, request)[0] is grpc.StatusCode.INVALID_ARGUMENT


def wrong_requests() -> list[tuple[api_pb2.PredictRequest, grpc.StatusCode, str]]:
    bad_type = a_request([ROW])
    bad_type.inputs["features"].dtype = tensor_pb2.DT_DOUBLE
    bad_type.inputs["features"].double_val.extend(ROW)
    bad_content = a_request([ROW])
    bad_content.inputs["features"].tensor_content = b"123"
    extra = a_request([ROW])
    extra.inputs["more"].CopyFrom(extra.inputs["features"])
    code = grpc.StatusCode
    return [
        (api_pb2.PredictRequest(), code.INVALID_ARGUMENT, "Missing ModelSpec"),
        (a_request([ROW], model=""), code.INVALID_ARGUMENT, "ModelSpec has no name specified."),
        (a_request([ROW], model="x"), code.NOT_FOUND, "Servable not found for request: Latest(x)"),
        (
            a_request([ROW], version=Int64Value(value=9)),
            code.NOT_FOUND,
            "Servable not found for request: Specific(m, 9)",
        ),
        (a_request([ROW], version_label="x"), code.INVALID_ARGUMENT, "Unrecognized servable version label: x"),
        (a_request([ROW], signature_name="x"), code.FAILED_PRECONDITION, 'Serving signature key "x" not found.'),
        (
            extra,
            code.INVALID_ARGUMENT,
            EXTRA,
        ),
        (bad_type, code.INVALID_ARGUMENT, "Expects arg[0] to be float but double is provided"),
        (bad_content, code.INVALID_ARGUMENT, "tensor parsing error: features"),
        (a_request([[1.0]]), code.INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: [1,1], In[1]: [16,32]"),
    ]


@pytest.mark.parametrize(("request_", "code", "message"), wrong_requests())
def test_wrong_predictions_get_the_real_server_s_codes(
    client: Client, request_: api_pb2.PredictRequest, code: grpc.StatusCode, message: str
) -> None:
    assert failure(client.predict, request_) == (code, message)


def test_a_missing_input_is_named(client: Client) -> None:
    code, message = failure(client.predict, a_request([ROW], name="other"))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert message.startswith("Signature input alias: features(feed name: serving_default_features:0) not found")


def test_a_long_message_is_cut(client: Client) -> None:
    _, message = failure(client.predict, a_request([ROW], model="x" * 2000))
    assert len(message) == 1024 + len("...TRUNCATED")


def test_status_and_metadata(client: Client) -> None:
    states = client.status(api_pb2.GetModelStatusRequest(model_spec=api_pb2.ModelSpec(name="m")), timeout=5)
    assert [(entry.version, entry.state) for entry in states.model_version_status] == [(2, 30), (1, 30)]
    unknown = api_pb2.GetModelStatusRequest(model_spec=api_pb2.ModelSpec(name="x"))
    assert failure(client.status, unknown) == (
        grpc.StatusCode.NOT_FOUND,
        "Could not find any versions of model x",
    )
    wanted = api_pb2.GetModelMetadataRequest(model_spec=api_pb2.ModelSpec(name="m"), metadata_field=["signature_def"])
    response = client.metadata(wanted, timeout=5)
    signatures = api_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(signatures)
    assert signatures.signature_def["serving_default"].inputs["features"].dtype == tensor_pb2.DT_FLOAT
    wanted.metadata_field.append("other")
    assert failure(client.metadata, wanted)[1] == "Metadata field other is not supported"


def test_the_page_counts_predictions_and_leaves_status_and_metadata_out(stand_in: StandIn, client: Client) -> None:
    name = ":tensorflow:serving:request_latency_count"
    series = f'{name}{{model_name="m",API="Predict",entrypoint="GRPC"}}'
    everything = ':tensorflow:serving:request_count{model_name="m",status="OK"}'
    client.predict(a_request([ROW]), timeout=5)
    before = stand_in.samples()
    client.predict(a_request([ROW]), timeout=5)
    client.status(api_pb2.GetModelStatusRequest(model_spec=api_pb2.ModelSpec(name="m")), timeout=5)
    after = stand_in.samples()
    assert after[series] == before[series] + 1
    assert after[everything] == before[everything] + 1


def test_a_deadline_ends_the_run_and_a_client_that_gives_up_is_still_counted(stand_in: StandIn, client: Client) -> None:
    stand_in.script({"latency": {"kind": "constant", "value": "300ms"}})
    before = stand_in.counts()
    with pytest.raises(grpc.RpcError) as raised:
        client.predict(a_request([ROW]), timeout=0.1)
    error: Any = raised.value
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    leaving = client.predict.future(a_request([ROW]))
    time.sleep(0.1)
    leaving.cancel()
    after = stand_in.settled()
    assert after["received"]["grpc"]["predict"] == before["received"]["grpc"]["predict"] + 2
    assert after["undelivered"] >= before["undelivered"] + 1
    codes = {entry["code"] for entry in after["answered"] if entry["protocol"] == "grpc"}
    assert {"DEADLINE_EXCEEDED", "OK"} <= codes


def test_a_thousand_calls_at_once_are_all_answered(stand_in: StandIn, client: Client) -> None:
    waiting = [client.predict.future(a_request([ROW]), timeout=20) for _ in range(1500)]
    assert {len(call.result().outputs) for call in waiting} == {1}
    assert stand_in.counts()["in_flight"] == 0


def test_a_taken_grpc_port_is_named(stand_in: StandIn, tmp_path: Path) -> None:
    taken = stand_in.grpc.partition(":")[2]
    expected = pytest.raises(AssertionError, match=rf"could not listen on 127.0.0.1:{taken} for gRPC")
    with expected, a_stand_in("--port", taken, "--log", str(tmp_path / "log.jsonl")):
        pass
