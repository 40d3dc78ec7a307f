"""Tensors to and from their wire form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..protos import tfserving_tensor_pb2 as tensor_pb2
from .codes import invalid
from .signature import TYPE_NAMES, Tensor

FIELDS: dict[tensor_pb2.DataType, tuple[str, Any]] = {
    tensor_pb2.DT_FLOAT: ("float_val", np.float32),
    tensor_pb2.DT_DOUBLE: ("double_val", np.float64),
    tensor_pb2.DT_INT32: ("int_val", np.int32),
    tensor_pb2.DT_INT64: ("int64_val", np.int64),
    tensor_pb2.DT_BOOL: ("bool_val", np.bool_),
    tensor_pb2.DT_STRING: ("string_val", object),
}
"""By element type: the field that lists the values, and the NumPy type."""


def type_name(dtype: int) -> str:
    """An element type in the words of error messages."""
    if dtype not in tensor_pb2.DataType.values():
        return f"unknown dtype enum ({dtype})"
    name = tensor_pb2.DataType.Name(tensor_pb2.DataType.ValueType(dtype))
    return TYPE_NAMES.get(name, name.removeprefix("DT_").lower())


def from_proto(name: str, proto: tensor_pb2.TensorProto) -> Tensor:
    """A tensor of any type the stand-in knows. Raises Failure if type, shape and content do not fit together."""
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.dtype not in FIELDS or proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise invalid(f"tensor parsing error: {name}")
    field, kind = FIELDS[proto.dtype]
    size = math.prod(shape)
    if proto.tensor_content and kind is not object:
        if len(proto.tensor_content) != size * np.dtype(kind).itemsize:
            raise invalid(f"tensor parsing error: {name}")
        return np.frombuffer(proto.tensor_content, dtype=kind).reshape(shape)
    listed = getattr(proto, field)
    if len(listed) > size:
        raise invalid(f"tensor parsing error: {name}")
    values = np.empty(size, dtype=kind)
    values[: len(listed)] = listed
    if len(listed) < size:
        # The last value stands for all that follow, and no value at all for zeros.
        values[len(listed) :] = listed[-1] if listed else (b"" if kind is object else 0)
    return values.reshape(shape)


def to_proto(tensor: Tensor) -> tensor_pb2.TensorProto:
    """The wire form, values listed in the field of their type as the real server lists them."""
    dtype = next(dtype for dtype, (_, kind) in FIELDS.items() if tensor.dtype == np.dtype(kind))
    proto = tensor_pb2.TensorProto(dtype=dtype)
    for size in tensor.shape:
        proto.tensor_shape.dim.add(size=size)
    getattr(proto, FIELDS[dtype][0]).extend(tensor.ravel().tolist())
    return proto
