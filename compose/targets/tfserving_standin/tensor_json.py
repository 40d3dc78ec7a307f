"""Turns the JSON of a predict request into tensors, refusing what the real server refuses, in its words."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np

from .codes import Failure, invalid
from .pretty import debug_text
from .signature import NUMPY_TYPES, TYPE_NAMES, Signature, Tensor, TensorInfo, Tensors

JSON_TYPES = {
    type(None): "Null",
    bool: "Bool",
    dict: "Object",
    list: "Array",
    str: "String",
    int: "Number",
    float: "Number",
}
NUMBERS = frozenset({int, float})


def from_instances(instances: list[Any], signature: Signature) -> Tensors:
    """Row format: one element for each row, a value or (named inputs) an object. Raises Failure."""
    inputs = signature.inputs
    if not isinstance(instances[0], dict) and len(inputs) > 1:
        raise invalid(
            "instances is a plain list, but expecting list of objects as multiple input tensors required as per "
            "tensorinfo_map"
        )
    if _is_object(instances[0]):
        return _from_objects(instances, inputs)
    name, info = next(iter(inputs.items()))
    if info.dtype == "DT_FLOAT" and (fast := _plain_rows(instances)) is not None:
        return {name: fast}
    column = _Column(info)
    for index, element in enumerate(instances):
        if _is_object(element):
            raise invalid(f"Expecting value/list but got object at item {index} of input list")
        try:
            column.add(element)
        except Failure as failure:
            raise invalid(f"Failed to process element: {index} of 'instances' list. Error: {failure}") from failure
    return {name: column.tensor()}


def from_inputs(value: Any, signature: Signature) -> Tensors:
    """Column format: a tensor, or an object of tensors by input name. Raises Failure."""
    inputs = signature.inputs
    if not _is_object(value):
        if len(inputs) > 1:
            raise invalid(
                "inputs is a plain value/list, but expecting an object as multiple input tensors required as per "
                "tensorinfo_map"
            )
        name, info = next(iter(inputs.items()))
        return {name: _dense(value, info)}
    for name in inputs:
        if name not in value:
            raise invalid(f"Missing named input: {name} in 'inputs' object.")
    return {name: _dense(value[name], info) for name, info in inputs.items()}


def _from_objects(instances: list[Any], inputs: Mapping[str, TensorInfo]) -> Tensors:
    columns = {name: _Column(info) for name, info in inputs.items()}
    for index, element in enumerate(instances):
        if not _is_object(element):
            raise invalid(f"Expecting object but got list at item {index} of input list")
        for name, value in element.items():
            try:
                if name not in columns:
                    raise invalid(f"JSON object: does not have named input: {name}")
                columns[name].add(value)
            except Failure as failure:
                where = f"element: {index} key: {name} of 'instances' list"
                raise invalid(f"Failed to process {where}. Error: {failure}") from failure
        if element.keys() != inputs.keys():
            raise invalid(
                f"Failed to process element: {index} of 'instances' list. JSON object: {debug_text(element)} keys must "
                f"be equal to: {','.join(sorted(inputs))}"
            )
    return {name: column.tensor() for name, column in columns.items()}


def _plain_rows(rows: list[Any]) -> Tensor | None:
    """Rows of numbers and nothing else as a float32 matrix; None sends the caller the thorough way."""
    first = rows[0]
    if type(first) is not list:
        return None
    width = len(first)
    for row in rows:
        if type(row) is not list or len(row) != width or not NUMBERS.issuperset(map(type, row)):
            return None
    try:
        return np.array(rows, dtype=np.float32)
    except OverflowError:
        return None


class _Column:
    """The rows of one input; all must have the shape of the first."""

    def __init__(self, info: TensorInfo) -> None:
        self._info = info
        self._values: list[Any] = []
        self._rows = 0
        self._size = 0
        self._shape: list[int] = []

    def add(self, value: Any) -> None:
        shape, values = _flat(value, self._info.dtype)
        if self._rows == 0:
            self._size, self._shape = len(values), shape
        elif len(values) != self._size:
            raise invalid(f"Expecting tensor size: {self._size} but got: {len(values)}")
        elif shape != self._shape:
            raise invalid(f"Expecting shape {_shape_text(self._shape)} but got: {_shape_text(shape)}")
        self._values += values
        self._rows += 1

    def tensor(self) -> Tensor:
        return _array(self._values, (self._rows, *self._shape), self._info.dtype)


def _dense(value: Any, info: TensorInfo) -> Tensor:
    shape, values = _flat(value, info.dtype)
    return _array(values, tuple(shape), info.dtype)


def _array(values: list[Any], shape: tuple[int, ...], dtype: str) -> Tensor:
    array = np.empty(len(values), dtype=NUMPY_TYPES[dtype])
    array[:] = values
    return array.reshape(shape)


def _flat(value: Any, dtype: str) -> tuple[list[int], list[Any]]:
    """Shape (that of the first elements) and all elements in order. Raises Failure if other elements differ."""
    shape: list[int] = []
    first = value
    while isinstance(first, list):
        shape.append(len(first))
        first = first[0] if first else None
    values: list[Any] = []
    _collect(value, 0, shape, dtype, values)
    return shape, values


def _collect(value: Any, level: int, shape: list[int], dtype: str, values: list[Any]) -> None:
    if not isinstance(value, list):
        if level != len(shape):
            raise invalid(
                f"JSON Value: {debug_text(value)} found at incorrect level: {level + 1} in the JSON DOM. "
                f"Expected at level: {len(shape)}"
            )
        values.append(_element(value, dtype))
        return
    if level >= len(shape):
        raise invalid(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
    if len(value) != shape[level]:
        raise invalid(
            f"Encountered list at unexpected size: {len(value)} at level: {level} expected size: {shape[level]}"
        )
    for element in value:
        _collect(element, level + 1, shape, dtype, values)


def _element(value: Any, dtype: str) -> Any:
    kind = type(value)
    if dtype in {"DT_FLOAT", "DT_DOUBLE"} and kind in NUMBERS:
        try:
            return float(value)
        except OverflowError as error:
            raise invalid("JSON Parse error: Number too big to be stored in double.") from error
    if dtype == "DT_STRING":
        if kind is str:
            return value.encode("utf-8", "surrogatepass")
        if kind is dict:
            return _unpacked(value)
    if dtype == "DT_BOOL" and kind is bool:
        return value
    if dtype in {"DT_INT32", "DT_INT64"} and kind is int:
        limit = 2 ** (31 if dtype == "DT_INT32" else 63)
        if -limit <= value < limit:
            return value
    name = ("True" if value else "False") if kind is bool else JSON_TYPES[kind]
    raise invalid(f"JSON Value: {debug_text(value)} Type: {name} is not of expected type: {TYPE_NAMES[dtype]}")


def _unpacked(value: dict[str, Any]) -> bytes:
    if not _is_base64(value):
        raise invalid(f"JSON Value: {debug_text(value)} not formatted correctly for base64 data")
    try:
        return base64.b64decode(value["b64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid("Unable to base64 decode") from error


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not _is_base64(value)


def _is_base64(value: dict[str, Any]) -> bool:
    return len(value) == 1 and isinstance(value.get("b64"), str)


def _shape_text(shape: list[int]) -> str:
    return f"[{','.join(map(str, shape))}]"
