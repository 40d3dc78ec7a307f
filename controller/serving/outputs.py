"""The outputs of a Predict over gRPC as values: finite or not, as text, and in the forms that REST gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from controller.plans.model_inputs import REAL, WHOLE
from controller.serving.protos import tfserving_tensor_pb2 as tensor

_FIELDS = {
    "DT_FLOAT": "float_val",
    "DT_DOUBLE": "double_val",
    "DT_INT64": "int64_val",
    "DT_UINT32": "uint32_val",
    "DT_UINT64": "uint64_val",
    "DT_BOOL": "bool_val",
}
_NUMBERS = {**REAL, **WHOLE, "DT_BOOL": np.bool_}
_FINITE = {tensor.DT_FLOAT: (np.float32, "float_val"), tensor.DT_DOUBLE: (np.float64, "double_val")}


def is_finite(proto: Any) -> bool:
    """Whether no number of the tensor is NaN or infinite; cheap, because every answer is asked."""
    found = _FINITE.get(proto.dtype)
    if found is None:
        return True
    kind, field = found
    if proto.tensor_content:
        return bool(np.isfinite(np.frombuffer(proto.tensor_content, dtype=kind)).all())
    return bool(np.isfinite(getattr(proto, field)).all())


def values_of(proto: Any) -> Any:
    """The tensor as nested lists of numbers, booleans and texts; a single value for no dimensions.

    Raises `ValueError` for a type that is not known here, or values that do not fill the shape.
    """
    shape = [int(dim.size) for dim in proto.tensor_shape.dim]
    name = tensor.DataType.Name(proto.dtype)
    if name == "DT_STRING":
        texts = np.array([value.decode(errors="replace") for value in proto.string_val], dtype=object)
        return _filled(texts, shape).tolist()
    kind = _NUMBERS.get(name)
    if kind is None:
        raise ValueError(f"an output of type {name} cannot be read")
    if proto.tensor_content:
        return _filled(np.frombuffer(proto.tensor_content, dtype=kind), shape).tolist()
    if name == "DT_HALF":
        return _filled(np.array(proto.half_val, dtype=np.uint16).view(np.float16), shape).tolist()
    return _filled(np.array(getattr(proto, _FIELDS.get(name, "int_val")), dtype=kind), shape).tolist()


def _filled(values: np.ndarray[Any, Any], shape: list[int]) -> np.ndarray[Any, Any]:
    """One value stands for all, as TensorFlow writes constants."""
    return np.full(shape, values[0]) if len(values) == 1 else values.reshape(shape)


def as_rest(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the same answer is over REST, in both forms at once: `outputs`, and `predictions` a row.

    Raises `ValueError`.
    """
    columns = {name: values_of(proto) for name, proto in outputs.items()}
    if len(columns) == 1:
        only = next(iter(columns.values()))
        return {"outputs": only, "predictions": only}
    rows = min((len(column) if isinstance(column, list) else 0 for column in columns.values()), default=0)
    each = [{name: column[row] for name, column in columns.items()} for row in range(rows)]
    return {"outputs": columns, "predictions": each}
