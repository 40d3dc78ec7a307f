"""The REST surface, one row for each thing a client can do right or wrong."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .running import BODY, PAGE, PREDICT, ROW, StandIn, a_stand_in, monitored


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    options = monitored(tmp_path_factory.mktemp("rest"))
    with a_stand_in("--versions", "1,2,4", "--version_labels", "stable=1,canary=4", *options) as running:
        yield running


PACKED = base64.b64encode(struct.pack("<16f", *ROW)).decode()
EXAMPLE = {"features": ROW}


def scores(stand_in: StandIn, path: str = PREDICT) -> list[float]:
    found: list[float] = stand_in.ask("POST", path, BODY).json()["predictions"][0]
    return found


def test_a_prediction_is_printed_as_the_real_server_prints_it(stand_in: StandIn) -> None:
    answer = stand_in.ask("POST", PREDICT, json.dumps({"instances": [ROW, ROW]}))
    line = ", ".join(format(value, ".9g") for value in scores(stand_in))
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert "stand-in" in answer.headers["Server"]
    assert answer.body == f'{{\n    "predictions": [[{line}], [{line}]\n    ]\n}}'


def test_the_column_format_prints_every_number_on_its_own_line(stand_in: StandIn) -> None:
    first, second, third = (format(value, ".9g") for value in scores(stand_in))
    answer = stand_in.post(PREDICT, {"inputs": [ROW]})
    assert answer.body == (
        '{\n    "outputs": [\n        [\n'
        f"            {first},\n            {second},\n            {third}\n        ]\n    ]\n}}"
    )


def test_every_version_has_its_own_weights_and_the_latest_answers(stand_in: StandIn) -> None:
    by_version = {number: scores(stand_in, f"/v1/models/m/versions/{number}:predict") for number in (1, 2, 4)}
    assert len({tuple(values) for values in by_version.values()}) == 3
    assert scores(stand_in) == by_version[4]
    assert scores(stand_in, "/v1/models/m/labels/stable:predict") == by_version[1]
    assert all(abs(sum(values) - 1) < 1e-6 for values in by_version.values())


@pytest.mark.parametrize(
    ("content", "answer_key", "shape"),
    [
        ({"instances": [{"features": ROW}] * 3}, "predictions", (3, 3)),
        ({"inputs": {"features": [ROW, ROW]}}, "outputs", (2, 3)),
        ({"signature_name": "serving_default", "instances": [ROW]}, "predictions", (1, 3)),
        ({"signature_name": "", "instances": [ROW]}, "predictions", (1, 3)),
    ],
)
def test_named_and_unnamed_inputs_are_the_same(
    stand_in: StandIn, content: dict[str, Any], answer_key: str, shape: tuple[int, int]
) -> None:
    found = stand_in.post(PREDICT, content).json()[answer_key]
    assert (len(found), len(found[0])) == shape
    assert found[0] == scores(stand_in)


def test_several_outputs_make_objects(stand_in: StandIn) -> None:
    pair = {"left": ROW[:8], "right": ROW[8:]}
    answer = stand_in.post(PREDICT, {"signature_name": "pair", "instances": [pair, pair]})
    line = ", ".join(format(value, ".9g") for value in scores(stand_in))
    choice = answer.json()["predictions"][0]["choice"]
    item = f'        {{\n            "choice": "{choice}",\n            "scores": [{line}]\n        }}'
    assert answer.body == f'{{\n    "predictions": [\n{item},\n{item}\n    ]\n}}'
    columns = stand_in.post(
        PREDICT, {"signature_name": "pair", "inputs": {name: [half] for name, half in pair.items()}}
    )
    assert columns.json()["outputs"] == {"choice": [choice], "scores": [scores(stand_in)]}


@pytest.mark.parametrize("content", [{"instances": [{"b64": PACKED}]}, {"inputs": {"packed_bytes": [{"b64": PACKED}]}}])
def test_bytes_travel_as_base64_both_ways(stand_in: StandIn, content: dict[str, Any]) -> None:
    answer = stand_in.post(PREDICT, {"signature_name": "packed", **content}).json()
    found = (
        answer["predictions"][0]
        if "predictions" in answer
        else {key: rows[0] for key, rows in answer["outputs"].items()}
    )
    assert found["scores"] == scores(stand_in)
    assert struct.unpack("<3f", base64.b64decode(found["scores_bytes"]["b64"])) == pytest.approx(found["scores"])


def test_one_value_for_each_row_makes_a_flat_list(stand_in: StandIn) -> None:
    answer = stand_in.post(PREDICT, {"signature_name": "sequence", "instances": [[0.0, 0.0], [1.0, 1.0]]})
    assert answer.body == '{\n    "predictions": [0.0, 0.761594176\n    ]\n}'


def test_classify_and_regress_take_examples(stand_in: StandIn) -> None:
    classify = stand_in.post("/v1/models/m:classify", {"signature_name": "classify", "examples": [EXAMPLE, EXAMPLE]})
    values = scores(stand_in)
    assert classify.json()["results"] == [[["low", values[0]], ["middle", values[1]], ["high", values[2]]]] * 2
    assert classify.body.endswith("]]\n    ]\n}")
    regress = stand_in.post(
        "/v1/models/m:regress", {"signature_name": "regress", "context": EXAMPLE, "examples": [{}, EXAMPLE]}
    )
    assert regress.body == f'{{\n    "results": [{values[2]:.9g}, {values[2]:.9g}]\n}}'


def test_numbers_that_json_does_not_know_are_taken_and_given(stand_in: StandIn) -> None:
    answer = stand_in.ask(
        "POST", PREDICT, '{"signature_name": "sequence", "instances": [[NaN], [Infinity], [-Infinity]]}'
    )
    assert answer.body == '{\n    "predictions": [NaN, 1.0, -1.0\n    ]\n}'


def test_a_gzip_body_is_unpacked(stand_in: StandIn) -> None:
    answer = stand_in.ask("POST", PREDICT, gzip.compress(BODY.encode()), Content_Encoding="gzip")
    assert answer.json()["predictions"] == [scores(stand_in)]
    broken = stand_in.ask("POST", PREDICT, b"not gzip", Content_Encoding="gzip")
    assert (broken.status, broken.json()) == (400, {"error": "JSON Parse error: The document is empty"})


def test_status_lists_versions_newest_first(stand_in: StandIn) -> None:
    answer = stand_in.get("/v1/models/m")
    ok = '    "error_code": "OK",\n    "error_message": ""\n'
    one = (
        '  {{\n   "version": "{}",\n   "state": "AVAILABLE",\n   "status": {{\n' + ok.replace("{", "{{") + "   }}\n  }}"
    )
    versions = ",\n".join(one.format(number) for number in (4, 2, 1))
    assert answer.body == f'{{\n "model_version_status": [\n{versions}\n ]\n}}\n'
    one_only = stand_in.get("/v1/models/m/versions/2").json()["model_version_status"]
    assert [entry["version"] for entry in one_only] == ["2"]
    by_label = stand_in.get("/v1/models/m/labels/nobody").json()["model_version_status"]
    assert len(by_label) == 3, "a label in a status request is ignored"


def test_metadata_describes_the_signatures(stand_in: StandIn) -> None:
    answer = stand_in.get("/v1/models/m/versions/2/metadata")
    assert answer.body.startswith('{\n"model_spec":{\n "name": "m",\n "signature_name": "",\n "version": "2"\n}\n,\n')
    described = answer.json()["metadata"]["signature_def"]["signature_def"]
    assert described["serving_default"]["inputs"]["features"] == {
        "dtype": "DT_FLOAT",
        "tensor_shape": {"dim": [{"size": "-1", "name": ""}, {"size": "16", "name": ""}], "unknown_rank": False},
        "name": "serving_default_features:0",
    }
    assert described["classify"]["method_name"] == "tensorflow/serving/classify"


ROW_TEXT = json.dumps(ROW)
ELEMENT = "Failed to process element: {} of 'instances' list. Error: INVALID_ARGUMENT: {}"
NOT_FLOAT = "JSON Value: {} Type: {} is not of expected type: float"
WRONG: list[tuple[str, str, str | None, int, str]] = [
    ("POST", "/v1/models/x:predict", BODY, 404, "Servable not found for request: Latest(x)"),
    ("POST", "/v1/models/m/versions/9:predict", BODY, 404, "Servable not found for request: Specific(m, 9)"),
    ("POST", "/v1/models/m/labels/none:predict", BODY, 400, "Unrecognized servable version label: none"),
    ("GET", "/v1/models/x", None, 404, "Could not find any versions of model x"),
    ("GET", "/v1/models/m/versions/9", None, 404, "Could not find version 9 of model m"),
    ("GET", "/v1/models/x/metadata", None, 404, "Servable not found for request: Latest(x)"),
    ("GET", "/v1/models", None, 400, "Missing model name in request."),
    ("GET", "/v1/foo", None, 400, "Malformed request: GET /v1/foo"),
    ("GET", PREDICT, None, 400, f"Malformed request: GET {PREDICT}"),
    ("PUT", PREDICT, BODY, 400, f"Malformed request: PUT {PREDICT}"),
    ("POST", "/v1/models/m:PREDICT", BODY, 400, "Malformed request: POST /v1/models/m:PREDICT"),
    ("POST", "/v1/models/m:predict?a=1", BODY, 400, "Malformed request: POST /v1/models/m:predict?a=1"),
    ("GET", "/v1/models/m?a=1", None, 404, "Could not find any versions of model m?a=1"),
    ("POST", "/v1/models/m/versions/x:predict", BODY, 400, "Malformed request: POST /v1/models/m/versions/x:predict"),
    ("POST", PREDICT, "", 400, "JSON Parse error: The document is empty"),
    ("POST", PREDICT, "instances", 400, "JSON Parse error: Invalid value. at offset: 0"),
    ("POST", PREDICT, "[1]", 400, "JSON Value: [1] Is not object"),
    ("POST", PREDICT, "{}", 400, "Missing 'inputs' or 'instances' key"),
    ("POST", PREDICT, '{"instances": []}', 400,
     "JSON Value: {\n    \"instances\": []\n} No values in 'instances' array"),
    ("POST", PREDICT, '{"signature_name": "nope", "instances": [1]}', 400,
     'Serving signature name: "nope" not found in signature def'),
    ("POST", PREDICT, '{"instances": [["x"]]}', 400, ELEMENT.format(0, NOT_FLOAT.format('"x"', "String"))),
    ("POST", PREDICT, '{"instances": [[true]]}', 400, ELEMENT.format(0, NOT_FLOAT.format("true", "True"))),
    ("POST", PREDICT, '{"instances": [[1, 2], [3]]}', 400,
     ELEMENT.format(1, "Expecting tensor size: 2 but got: 1")),
    ("POST", PREDICT, '{"instances": [[1, [2]]]}', 400,
     ELEMENT.format(0, "Encountered list at unexpected level: 1 expected < 1")),
    ("POST", PREDICT, '{"instances": [{"y": 1}]}', 400,
     ELEMENT.format("0 key: y", "JSON object: does not have named input: y")),
    ("POST", PREDICT, '{"inputs": {"y": 1}}', 400, "Missing named input: features in 'inputs' object."),
    ("POST", PREDICT, f'{{"instances": [{ROW_TEXT}, {{}}]}}', 400,
     "Expecting value/list but got object at item 1 of input list"),
    ("POST", PREDICT, '{"instances": [[1, 2]]}', 400, "Matrix size-incompatible: In[0]: [1,2], In[1]: [16,32]"),
    ("POST", PREDICT, '{"inputs": 5}', 400, "In[0] and In[1] has different ndims: [] vs. [16,32]"),
    ("POST", PREDICT, '{"signature_name": "packed", "instances": [{"b64": "!"}]}', 400,
     ELEMENT.format(0, "Unable to base64 decode")),
    ("POST", "/v1/models/m:classify", '{"examples": [{"features": [1.0]}]}', 400,
     "No classification inputs found in SignatureDef: serving_default"),
    ("POST", "/v1/models/m:classify", '{"examples": []}', 400,
     "JSON Value: {\n    \"examples\": []\n} 'examples' value is an empty array"),
    ("POST", "/v1/models/m:regress", '{"signature_name": "regress", "examples": [{"other": 1.0}]}', 400,
     "Name: <unknown>, Feature: features (data type: float) is required but could not be found."),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "status", "message"), WRONG)
def test_wrong_requests_get_the_real_server_s_words(
    stand_in: StandIn, method: str, path: str, body: str | None, status: int, message: str
) -> None:
    answer = stand_in.ask(method, path, body)
    assert (answer.status, answer.json()) == (status, {"error": message})
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.body == f'{{\n    "error": {json.dumps(message)}\n}}'


def test_a_version_no_number_can_hold_gets_no_body(stand_in: StandIn) -> None:
    answer = stand_in.get("/v1/models/m/versions/99999999999999999999")
    assert (answer.status, answer.body) == (400, "")


def test_options_needs_an_origin(stand_in: StandIn) -> None:
    assert stand_in.ask("OPTIONS", PREDICT, Origin="http://page").status == 200
    refused = stand_in.ask("OPTIONS", PREDICT)
    assert (refused.status, refused.body) == (400, "")


def test_everything_else_is_a_page_of_html(stand_in: StandIn) -> None:
    answer = stand_in.get("/")
    assert (answer.status, answer.headers["Content-Type"]) == (404, "text/html")
    assert "<H1>Not Found</H1>" in answer.body


def test_the_metric_page_refuses_a_query(stand_in: StandIn) -> None:
    assert stand_in.get(PAGE).status == 200
    answer = stand_in.get(f"{PAGE}?a=1")
    assert (answer.status, answer.body) == (400, f"Unexpected path: {PAGE}?a=1. Should be {PAGE}")


def test_cors_headers_come_only_when_asked_for(stand_in: StandIn, tmp_path: Path) -> None:
    assert "Access-Control-Allow-Origin" not in stand_in.predict().headers
    with a_stand_in("--enable_cors_support=true", "--log", str(tmp_path / "log.jsonl")) as other:
        assert other.predict().headers["Access-Control-Allow-Origin"] == "*"
        assert other.get(PAGE).status == 404, "monitoring is off"
