"""The model behind the stand-in: a small two-layer network in NumPy, with other weights in every version."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .codes import invalid
from .signature import CLASSIFY, DEFAULT_SIGNATURE, PREDICT, REGRESS, Signature, Tensor, TensorInfo, Tensors

FEATURES = 16
HIDDEN = 32
CLASSES = ("low", "middle", "high")
FEATURE_BYTES = 4 * FEATURES

Wide = NDArray[np.float64]


class Network:
    """Features to class scores. It works in double precision, so that a row's result does not depend on its batch."""

    def __init__(self, version: int) -> None:
        """The weights follow from the version number alone (a frozen generator, equal on every machine)."""
        random = np.random.RandomState(version % 2**32)
        self._first = random.normal(0.0, 1.0 / np.sqrt(FEATURES), (FEATURES, HIDDEN))
        self._first_bias = random.normal(0.0, 0.1, HIDDEN)
        self._second = random.normal(0.0, 1.0 / np.sqrt(HIDDEN), (HIDDEN, len(CLASSES)))
        self._second_bias = random.normal(0.0, 0.1, len(CLASSES))

    def scores(self, features: Tensor) -> Tensor:
        """Probabilities of the classes, float32 of shape [rows, 3], for `features` of shape [rows, 16]."""
        if features.ndim != 2:
            shapes = f"{_shape(features)} vs. [{FEATURES},{HIDDEN}]"
            raise invalid(f"In[0] and In[1] has different ndims: {shapes}")
        if features.shape[1] != FEATURES:
            shapes = f"In[0]: {_shape(features)}, In[1]: [{FEATURES},{HIDDEN}]"
            raise invalid(f"Matrix size-incompatible: {shapes}")
        hidden: Wide = features.astype(np.float64) @ self._first
        hidden += self._first_bias
        np.maximum(hidden, 0.0, out=hidden)
        scores: Wide = hidden @ self._second
        scores += self._second_bias
        # The softmax, in place: most requests have one row, for which making arrays costs more than the arithmetic.
        scores -= np.maximum.reduce(scores, axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= np.add.reduce(scores, axis=1, keepdims=True)
        return scores.astype(np.float32)


def signatures(version: int) -> dict[str, Signature]:
    """Everything one version of the model can be asked, by signature name."""
    network = Network(version)
    wanted = (_default(network), _pair(network), _sequence(), _packed(network), _classify(network), _regress(network))
    return {signature.name: signature for signature in wanted}


def _default(network: Network) -> Signature:
    return Signature(
        DEFAULT_SIGNATURE,
        PREDICT,
        {"features": TensorInfo("serving_default_features:0", "DT_FLOAT", (-1, FEATURES))},
        {"scores": TensorInfo("StatefulPartitionedCall:0", "DT_FLOAT", (-1, len(CLASSES)))},
        lambda inputs: {"scores": network.scores(inputs["features"])},
    )


def _pair(network: Network) -> Signature:
    """Two inputs and two outputs: the features in halves, and the name of the likeliest class beside the scores."""

    def compute(inputs: Tensors) -> Tensors:
        scores = network.scores(_joined(inputs["left"], inputs["right"]))
        names = np.array([CLASSES[index].encode() for index in scores.argmax(axis=1)], dtype=object)
        return {"choice": names, "scores": scores}

    half = FEATURES // 2
    return Signature(
        "pair",
        PREDICT,
        {
            "left": TensorInfo("pair_left:0", "DT_FLOAT", (-1, half)),
            "right": TensorInfo("pair_right:0", "DT_FLOAT", (-1, half)),
        },
        {
            "choice": TensorInfo("StatefulPartitionedCall_1:0", "DT_STRING", (-1,)),
            "scores": TensorInfo("StatefulPartitionedCall_1:1", "DT_FLOAT", (-1, len(CLASSES))),
        },
        compute,
    )


def _sequence() -> Signature:
    """Rows of any length: the input for which padding in a batch exists."""

    def compute(inputs: Tensors) -> Tensors:
        steps = inputs["steps"]
        if steps.ndim != 2:
            raise invalid(f"Invalid reduction dimension (1 for input with {steps.ndim} dimension(s)")
        return {"level": np.tanh(steps.astype(np.float64).mean(axis=1)).astype(np.float32)}

    return Signature(
        "sequence",
        PREDICT,
        {"steps": TensorInfo("sequence_steps:0", "DT_FLOAT", (-1, -1))},
        {"level": TensorInfo("StatefulPartitionedCall_2:0", "DT_FLOAT", (-1,))},
        compute,
    )


def _packed(network: Network) -> Signature:
    """Features as raw little-endian bytes, and the scores back as bytes: the base64 path of the REST API."""

    def compute(inputs: Tensors) -> Tensors:
        packed = inputs["packed_bytes"].ravel()
        for blob in packed:
            if len(blob) != FEATURE_BYTES:
                raise invalid(f"Input to DecodeRaw has length {len(blob)}, expected {FEATURE_BYTES}")
        features = np.frombuffer(b"".join(packed), dtype="<f4").reshape(len(packed), FEATURES)
        scores = network.scores(features)
        rows = [row.astype("<f4").tobytes() for row in scores]
        return {"scores": scores, "scores_bytes": np.array(rows, dtype=object)}

    return Signature(
        "packed",
        PREDICT,
        {"packed_bytes": TensorInfo("packed_packed_bytes:0", "DT_STRING", (-1,))},
        {
            "scores": TensorInfo("StatefulPartitionedCall_3:0", "DT_FLOAT", (-1, len(CLASSES))),
            "scores_bytes": TensorInfo("StatefulPartitionedCall_3:1", "DT_STRING", (-1,)),
        },
        compute,
    )


def _classify(network: Network) -> Signature:
    def compute(inputs: Tensors) -> Tensors:
        scores = network.scores(_parsed(inputs["inputs"]))
        names = np.array([name.encode() for name in CLASSES], dtype=object)
        return {"classes": np.tile(names, (len(scores), 1)), "scores": scores}

    return Signature(
        "classify",
        CLASSIFY,
        {"inputs": TensorInfo("classify_examples:0", "DT_STRING", (-1,))},
        {
            "classes": TensorInfo("Tile:0", "DT_STRING", (-1, len(CLASSES))),
            "scores": TensorInfo("StatefulPartitionedCall_4:0", "DT_FLOAT", (-1, len(CLASSES))),
        },
        compute,
    )


def _regress(network: Network) -> Signature:
    def compute(inputs: Tensors) -> Tensors:
        return {"outputs": network.scores(_parsed(inputs["inputs"]))[:, -1:]}

    return Signature(
        "regress",
        REGRESS,
        {"inputs": TensorInfo("regress_examples:0", "DT_STRING", (-1,))},
        {"outputs": TensorInfo("StatefulPartitionedCall_5:0", "DT_FLOAT", (-1, 1))},
        compute,
    )


def _joined(left: Tensor, right: Tensor) -> Tensor:
    if left.ndim != right.ndim or left.shape[:1] != right.shape[:1]:
        raise invalid(f"ConcatOp : Dimensions of inputs should match: shape[0] = {_shape(left)} vs. {_shape(right)}")
    return np.concatenate([left, right], axis=-1)


def _parsed(examples: Tensor) -> Tensor:
    """The `features` of examples. An example is a mapping from feature name to a list of values."""
    rows: list[list[float]] = []
    for index, example in enumerate(examples.ravel()):
        if not isinstance(example, dict):
            raise invalid(f"Could not parse example input, value: '{bytes(example)[:64].decode('latin-1')}'")
        values = example.get("features")
        if values is None:
            raise invalid("Name: <unknown>, Feature: features (data type: float) is required but could not be found.")
        if not all(isinstance(value, float) for value in values):
            raise invalid("Name: <unknown>, Feature: features.  Data types don't match. Expected type: float")
        if len(values) != FEATURES:
            raise invalid(
                f"Name: <unknown>, Key: features, Index: {index}.  Number of float values != expected.  "
                f"Values size: {len(values)} but output shape: [{FEATURES}]"
            )
        rows.append(values)
    return np.array(rows, dtype=np.float32).reshape(len(rows), FEATURES)


def _shape(tensor: Tensor) -> str:
    return f"[{','.join(map(str, tensor.shape))}]"
