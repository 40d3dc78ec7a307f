"""What a model takes and gives: named tensors with element type and shape, and the method that uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensor = NDArray[Any]
Tensors = dict[str, Tensor]

DEFAULT_SIGNATURE = "serving_default"
PREDICT = "tensorflow/serving/predict"
CLASSIFY = "tensorflow/serving/classify"
REGRESS = "tensorflow/serving/regress"

NUMPY_TYPES: dict[str, np.dtype[Any]] = {
    "DT_FLOAT": np.dtype(np.float32),
    "DT_DOUBLE": np.dtype(np.float64),
    "DT_INT32": np.dtype(np.int32),
    "DT_INT64": np.dtype(np.int64),
    "DT_BOOL": np.dtype(np.bool_),
    "DT_STRING": np.dtype(object),
}
"""Element types the stand-in's signatures may use; strings are Python bytes in object arrays."""
TYPE_NAMES = {
    "DT_FLOAT": "float",
    "DT_DOUBLE": "double",
    "DT_INT32": "int32",
    "DT_INT64": "int64",
    "DT_BOOL": "bool",
    "DT_STRING": "string",
}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One named tensor: `feed` is its name inside the graph, -1 in `shape` is any size."""

    feed: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """One way to call a model. `compute` maps whole batches of inputs to outputs and may raise `Failure`."""

    name: str
    method: str
    inputs: Mapping[str, TensorInfo]
    outputs: Mapping[str, TensorInfo]
    compute: Callable[[Tensors], Tensors]


def debug_text(signature: Signature) -> str:
    """A short text form for error messages."""
    parts = [f"inputs {{ {' '.join(signature.inputs)} }}", f"outputs {{ {' '.join(signature.outputs)} }}"]
    return f'{" ".join(parts)} method_name: "{signature.method}"'
