"""What a model's signature takes, as TensorFlow Serving tells it, and random instances of just that."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

DEFAULT_SIGNATURE = "serving_default"

OPEN_SIDE = 16
"""Length of a dimension that the signature leaves open (-1), except the first, which is the batch."""

MOST_VALUES = 16 * 1024 * 1024
"""Numbers in a pool made from a signature."""

REAL = {"DT_FLOAT": np.float32, "DT_DOUBLE": np.float64, "DT_HALF": np.float16}
WHOLE = {
    "DT_INT8": np.int8,
    "DT_INT16": np.int16,
    "DT_INT32": np.int32,
    "DT_INT64": np.int64,
    "DT_UINT8": np.uint8,
    "DT_UINT32": np.uint32,
    "DT_UINT64": np.uint64,
}
_BELOW = 8  # whole numbers are often places in a vocabulary: small ones are in every vocabulary
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class ModelInput:
    """One input: TensorFlow's name of its type, its dimensions with the batch first (-1: open, None: unknown)."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None


def model_inputs(metadata: Any, signature: str | None) -> tuple[ModelInput, ...]:
    """The inputs in the answer to `GET …/metadata`, by name. Raises `ValueError` that says what is missing."""
    wanted = signature or DEFAULT_SIGNATURE
    try:
        known = metadata["metadata"]["signature_def"]["signature_def"]
        if wanted not in known:
            raise ValueError(f"the model has no signature {wanted}, it has {', '.join(sorted(known)) or 'none'}")
        return tuple(_input(name, tensor) for name, tensor in sorted(known[wanted]["inputs"].items()))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the model's metadata has no signatures ({error!r})") from error


def _input(name: str, tensor: Mapping[str, Any]) -> ModelInput:
    shape = tensor["tensor_shape"]
    dims = tuple(int(dim["size"]) for dim in shape.get("dim") or ())
    return ModelInput(name, str(tensor["dtype"]), None if shape.get("unknown_rank") else dims)


def instance_shape(taken: ModelInput) -> tuple[int, ...]:
    """Dimensions of one instance. Raises `ValueError` when the signature does not say them."""
    if taken.shape is None:
        raise ValueError(f"the input {taken.name} has no known rank; give payloads instead")
    if not taken.shape:
        raise ValueError(f"the input {taken.name} is a single value without a batch; give payloads instead")
    return tuple(OPEN_SIDE if side < 0 else side for side in taken.shape[1:])


def random_arrays(inputs: Sequence[ModelInput], count: int, seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """`count` instances of every input, batch first; texts as bytes. The same for the same seed.

    Raises `ValueError` for a type that is not known here, or too many numbers.
    """
    source = np.random.default_rng(seed)
    found: dict[str, np.ndarray[Any, Any]] = {}
    for taken in inputs:
        shape = (count, *instance_shape(taken))
        if prod(shape) > MOST_VALUES:
            raise ValueError(f"the input {taken.name} of {count} instances has {prod(shape):,} values; lower count")
        if taken.dtype in REAL:
            found[taken.name] = source.random(shape).astype(REAL[taken.dtype])
        elif taken.dtype in WHOLE:
            found[taken.name] = source.integers(0, _BELOW, shape).astype(WHOLE[taken.dtype])
        elif taken.dtype == "DT_BOOL":
            found[taken.name] = source.random(shape) < 0.5
        elif taken.dtype == "DT_STRING":
            letters = source.integers(0, len(_LETTERS), (*shape, 8))
            words = np.array(list(_LETTERS.encode()), dtype=np.uint8)[letters].view("S8")
            found[taken.name] = words.reshape(shape)
        else:
            raise ValueError(f"the input {taken.name} is of type {taken.dtype}, which cannot be made at random")
    return found


def random_instances(inputs: Sequence[ModelInput], count: int, seed: int) -> list[Any]:
    """The same as JSON instances: the value of a single input, otherwise an object by input."""
    columns = {name: _json(values) for name, values in random_arrays(inputs, count, seed).items()}
    if len(columns) == 1:
        return list(next(iter(columns.values())))
    return [{name: values[index] for name, values in columns.items()} for index in range(count)]


def _json(values: np.ndarray[Any, Any]) -> list[Any]:
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        values = values.astype("U32").astype(np.float64)
    plain: list[Any] = values.tolist()
    return [_encoded(item) for item in plain] if values.dtype.kind == "S" else plain


def _encoded(item: Any) -> Any:
    if isinstance(item, list):
        return [_encoded(inner) for inner in item]
    return {"b64": base64.b64encode(item).decode()}
