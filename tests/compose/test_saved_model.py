"""The SavedModels that compose serves: sound without TensorFlow's help, equal to the stand-in, and really callable."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compose.targets.protos.tfserving_api_pb2 import PredictRequest
from compose.targets.tfserving_standin import model as standin
from tests.compose import wire

ROOT = Path(__file__).parents[2]
EXPORTER = ROOT / "compose/tfserving/export_model.py"
MODELS = ROOT / "compose/tfserving/models"
ANSWERS = Path(__file__).with_name("scorer_answers.json")
TENSORFLOW = "STAGELIGHT_TENSORFLOW_PYTHON"
EXPORTED_WITH = "2.21.0"
VERSIONS = (1, 2)


def told_answers(version: int) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = json.loads(ANSWERS.read_text())
    return [each for each in every if each["version"] == version]


def test_all_versions_together_stay_under_one_megabyte() -> None:
    files = [path for path in MODELS.rglob("*") if path.is_file()]
    assert {path.relative_to(MODELS).parts[:2] for path in files} == {("scorer", str(each)) for each in VERSIONS}
    assert sum(path.stat().st_size for path in files) < 1_000_000


@pytest.mark.parametrize("version", VERSIONS)
def test_the_default_signature_maps_features_to_scores(version: int) -> None:
    folder = MODELS / "scorer" / str(version)
    signature = wire.signatures(folder)["serving_default"]
    assert wire.tags(folder) == ["serve"]
    assert signature.method_name == "tensorflow/serving/predict"
    assert shape_of(signature.inputs) == {"features": ("DT_FLOAT", (-1, 16))}
    assert shape_of(signature.outputs) == {"scores": ("DT_FLOAT", (-1, 3))}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_signature_is_one_that_the_stand_in_has_too(version: int) -> None:
    found = wire.signatures(MODELS / "scorer" / str(version))
    found.pop("__saved_model_init_op")
    assert {
        name: (each.method_name, shape_of(each.inputs), shape_of(each.outputs)) for name, each in found.items()
    } == {
        name: (each.method, infos_of(each.inputs), infos_of(each.outputs))
        for name, each in standin.signatures(version).items()
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_the_stand_in_answers_what_the_exported_model_answered(version: int) -> None:
    told = told_answers(version)
    assert len(told) == 5
    features = np.array([each["features"] for each in told], dtype=np.float32)
    expected = np.array([each["scores"] for each in told], dtype=np.float32)
    np.testing.assert_allclose(standin.Network(version).scores(features), expected, rtol=0, atol=1e-6)


def test_versions_answer_differently() -> None:
    first, second = ([each["scores"] for each in told_answers(version)] for version in VERSIONS)
    assert np.abs(np.array(first) - np.array(second)).max() > 0.05


@pytest.mark.parametrize("version", VERSIONS)
def test_the_checkpoint_holds_the_frozen_generators_weights(version: int) -> None:
    content = (MODELS / "scorer" / str(version) / "variables/variables.data-00000-of-00001").read_bytes()
    random = np.random.RandomState(version)
    for scale, shape in ((1 / np.sqrt(16), (16, 32)), (0.1, (32,)), (1 / np.sqrt(32), (32, 3)), (0.1, (3,))):
        weights = random.normal(0.0, scale, shape).astype("<f8").tobytes()
        assert content.find(weights) >= 0, f"no weights of shape {shape}"


@pytest.mark.parametrize("version", VERSIONS)
def test_warm_up_records_are_predict_requests_in_every_allowed_batch_size(version: int) -> None:
    path = MODELS / "scorer" / str(version) / "assets.extra/tf_serving_warmup_requests"
    sizes = []
    for record in wire.records(path):
        (predict_log,) = wire.only(record, 6)
        (content,) = wire.only(predict_log, 1)
        request = PredictRequest.FromString(content)
        assert (request.model_spec.name, request.model_spec.signature_name) == ("scorer", "serving_default")
        features = request.inputs["features"]
        rows, width = (dim.size for dim in features.tensor_shape.dim)
        assert width == 16
        assert len(np.frombuffer(features.tensor_content, "<f4")) == rows * width
        sizes.append(rows)
    assert sizes == [1, 2, 4, 8, 16, 32]


def test_a_torn_or_changed_record_is_noticed(tmp_path: Path) -> None:
    good = (MODELS / "scorer/1/assets.extra/tf_serving_warmup_requests").read_bytes()
    for bad in (good[:-1], good[:20] + b"\x00" + good[21:]):
        path = tmp_path / "records"
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="checksum"):
            wire.records(path)


@pytest.mark.slow
def test_tensorflow_itself_loads_each_version_and_gives_the_told_answers(tmp_path: Path) -> None:
    found, _ = ask(MODELS, tmp_path / "answers.json", "--only-ask")
    assert found == json.loads(ANSWERS.read_text())


@pytest.mark.slow
def test_exporting_again_gives_the_same_bytes(tmp_path: Path) -> None:
    _, output = ask(tmp_path / "models", tmp_path / "answers.json")
    if f"TensorFlow {EXPORTED_WITH}" not in output:
        pytest.skip(f"only TensorFlow {EXPORTED_WITH} writes the same bytes; this is {output.split()[-1]}")
    assert files_of(tmp_path / "models") == files_of(MODELS)


def ask(models: Path, answers: Path, *options: str) -> tuple[list[dict[str, Any]], str]:
    """Run the export script with TensorFlow. Its 1.6 GB are no part of the product, so even CI may do without."""
    python = os.environ.get(TENSORFLOW)
    if python is None:
        pytest.skip(f"set {TENSORFLOW} to the python of an environment with tensorflow-cpu=={EXPORTED_WITH}")
    command = [python, str(EXPORTER), str(models), "--answers", str(answers), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(answers.read_text())
    return found, done.stdout


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shape_of(tensors: Any) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Element type and shape by name, from the messages of a SavedModel."""
    return {
        name: (standin_type(info.dtype), tuple(dim.size for dim in info.tensor_shape.dim))
        for name, info in tensors.items()
    }


def standin_type(number: int) -> str:
    return {1: "DT_FLOAT", 7: "DT_STRING"}[number]


def infos_of(tensors: Any) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Element type and shape by name, from the stand-in's table."""
    return {name: (info.dtype, tuple(info.shape)) for name, info in tensors.items()}
