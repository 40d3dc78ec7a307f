"""Exports the model `scorer` as SavedModels with TensorFlow: the same network and weights as the stand-in's.

    python -m venv tf && tf/bin/pip install tensorflow-cpu==2.21.0     (an environment of its own: 1.6 GB)
    tf/bin/python compose/tfserving/export_model.py compose/tfserving/models --answers tests/compose/scorer_answers.json

The same TensorFlow writes the same bytes every time: weights come from a frozen generator, the graph is written in a
stable order, and the fingerprint file, which holds a random number, is left out (a server does without it).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]
from google.protobuf.message import Message
from tensorflow.core.protobuf import saved_model_pb2  # type: ignore[import-untyped]

NAME = "scorer"
VERSIONS = (1, 2)
FEATURES = 16
HIDDEN = 32
CLASSES = ("low", "middle", "high")
WARMUP_ROWS = (1, 2, 4, 8, 16, 32)
"""Rows of the warm-up requests: every batch size that the batching file allows."""
METHODS = {"classify": "tensorflow/serving/classify", "regress": "tensorflow/serving/regress"}


def scorer(version: int) -> Any:
    """A two-layer network whose weights follow from the version number alone, in double precision.

    Double, because then a row's float32 answer does not depend on the batch that it is computed in.
    """
    random = np.random.RandomState(version)
    module = tf.Module(name=NAME)
    module.first = tf.Variable(random.normal(0.0, 1.0 / np.sqrt(FEATURES), (FEATURES, HIDDEN)), name="first")
    module.first_bias = tf.Variable(random.normal(0.0, 0.1, HIDDEN), name="first_bias")
    module.second = tf.Variable(random.normal(0.0, 1.0 / np.sqrt(HIDDEN), (HIDDEN, len(CLASSES))), name="second")
    module.second_bias = tf.Variable(random.normal(0.0, 0.1, len(CLASSES)), name="second_bias")

    def scores(features: Any) -> Any:
        hidden = tf.nn.relu(tf.matmul(tf.cast(features, tf.float64), module.first) + module.first_bias)
        return tf.cast(tf.nn.softmax(tf.matmul(hidden, module.second) + module.second_bias), tf.float32)

    for name, (function, inputs) in signatures(scores).items():
        setattr(module, name, tf.function(function, input_signature=inputs))
    return module


def signatures(scores: Callable[[Any], Any]) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Every way to call the model, by signature name: the function and its inputs."""
    half = FEATURES // 2

    def parsed(examples: Any) -> Any:
        return tf.io.parse_example(examples, {"features": tf.io.FixedLenFeature([FEATURES], tf.float32)})["features"]

    def pair(left: Any, right: Any) -> dict[str, Any]:
        found = scores(tf.concat([left, right], axis=-1))
        return {"choice": tf.gather(tf.constant(CLASSES), tf.argmax(found, axis=1)), "scores": found}

    def packed(packed_bytes: Any) -> dict[str, Any]:
        found = scores(tf.reshape(tf.io.decode_raw(packed_bytes, tf.float32, fixed_length=None), [-1, FEATURES]))
        rows = tf.map_fn(_as_bytes, found, fn_output_signature=tf.string)
        return {"scores": found, "scores_bytes": rows}

    def classify(inputs: Any) -> dict[str, Any]:
        found = scores(parsed(inputs))
        return {"classes": tf.tile([tf.constant(CLASSES)], [tf.shape(found)[0], 1]), "scores": found}

    return {
        "serving_default": (
            lambda features: {"scores": scores(features)},
            [_spec("features", [None, FEATURES])],
        ),
        "pair": (pair, [_spec("left", [None, half]), _spec("right", [None, half])]),
        "sequence": (
            lambda steps: {"level": tf.cast(tf.tanh(tf.reduce_mean(tf.cast(steps, tf.float64), axis=1)), tf.float32)},
            [_spec("steps", [None, None])],
        ),
        "packed": (packed, [_spec("packed_bytes", [None], tf.string)]),
        "classify": (classify, [_spec("inputs", [None], tf.string)]),
        "regress": (lambda inputs: {"outputs": scores(parsed(inputs))[:, -1:]}, [_spec("inputs", [None], tf.string)]),
    }


def export(version: int, models: Path) -> Path:
    """Write `models/scorer/<version>` anew and return it."""
    folder = models / NAME / str(version)
    if folder.exists():
        shutil.rmtree(folder)
    module = scorer(version)
    tf.saved_model.save(module, str(folder), signatures={name: getattr(module, name) for name in signatures(id)})
    graph = folder / "saved_model.pb"
    graph.write_bytes(_stable(graph.read_bytes()))
    (folder / "fingerprint.pb").unlink()
    (folder / "assets").rmdir()
    extra = folder / "assets.extra"
    extra.mkdir()
    with tf.io.TFRecordWriter(str(extra / "tf_serving_warmup_requests")) as records:
        for rows in WARMUP_ROWS:
            records.write(_warmup(np.random.RandomState(rows).random_sample((rows, FEATURES)).astype(np.float32)))
    return folder


def answers(folder: Path, version: int) -> list[dict[str, Any]]:
    """What the exported model answers to a few fixed rows: the fixture that the stand-in is held to."""
    call = tf.saved_model.load(str(folder)).signatures["serving_default"]
    rows = np.random.RandomState(7).normal(0.0, 1.0, (5, FEATURES)).astype(np.float32)
    rows[0], rows[1] = 0.0, 1.0
    found = call(features=tf.constant(rows))["scores"].numpy()
    return [
        {"version": version, "features": features, "scores": scores}
        for features, scores in zip(rows.tolist(), found.tolist(), strict=True)
    ]


def _spec(name: str, shape: list[int | None], dtype: Any = None) -> Any:
    return tf.TensorSpec(shape, dtype or tf.float32, name=name)


def _as_bytes(row: Any) -> Any:
    """One row of float32 as little-endian bytes, with graph operations only."""
    octets = tf.cast(tf.reshape(tf.bitcast(row, tf.uint8), [-1]), tf.int32)
    every_octet = tf.constant([bytes([value]) for value in range(256)])
    return tf.strings.reduce_join(tf.gather(every_octet, octets))


def _stable(graph: bytes) -> bytes:
    """The same SavedModel with maps in key order, and the methods that `tf.saved_model.save` cannot write."""
    saved = saved_model_pb2.SavedModel.FromString(graph)
    for meta in saved.meta_graphs:
        for name, method in METHODS.items():
            meta.signature_def[name].method_name = method
    text: bytes = saved.SerializeToString(deterministic=True)
    return text


def _warmup(features: Any) -> bytes:
    """One warm-up record: a `PredictionLog` with a `PredictLog` (field 6) with a `PredictRequest` (field 1).

    Written field by field, because the package with these messages is for the server's clients and not needed here.
    """
    spec = _field(1, NAME.encode()) + _field(3, b"serving_default")
    entry = _field(1, b"features") + _field(2, _bytes_of(tf.make_tensor_proto(features)))
    return _field(6, _field(1, _field(1, spec) + _field(2, entry)))


def _bytes_of(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited protobuf field."""
    length, left = b"", len(content)
    while left > 0x7F:
        length, left = length + bytes([left & 0x7F | 0x80]), left >> 7
    return bytes([number << 3 | 2]) + length + bytes([left]) + content


def main(arguments: Sequence[str] | None = None) -> int:
    """Export every version, then ask each for the answers of the fixture."""
    parser = argparse.ArgumentParser(description="Export the SavedModels of the compose demo with TensorFlow.")
    parser.add_argument("models", type=Path, help="folder that gets scorer/1 and scorer/2")
    parser.add_argument("--answers", type=Path, help="JSON file that gets the models' answers to a few rows")
    parser.add_argument("--only-ask", action="store_true", help="export nothing: load the models that are there")
    given = parser.parse_args(arguments)
    fixture: list[dict[str, Any]] = []
    for version in VERSIONS:
        folder = given.models / NAME / str(version) if given.only_ask else export(version, given.models)
        fixture += answers(folder, version)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        sys.stdout.write(f"{folder}: {size} bytes, TensorFlow {tf.__version__}\n")
    if given.answers is not None:
        given.answers.write_text("[\n" + ",\n".join(json.dumps(each) for each in fixture) + "\n]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
