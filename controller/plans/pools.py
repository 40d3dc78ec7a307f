"""Pools of instances: from arrays, lines of JSON, tables, recorded requests or a model's signature; picked by index.

Nothing here holds a whole large file in memory: arrays are mapped, of lines only the places are kept.
"""

from __future__ import annotations

import base64
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from controller.plans.csv_rows import ENCODING, csv_rows
from controller.plans.line_pools import Lines, PayloadError, Requests, lines_in
from controller.plans.model_inputs import ModelInput, random_instances
from controller.plans.npy_file import open_npy
from controller.plans.plan import Payloads

__all__ = ["Array", "Lines", "PayloadError", "Pool", "Requests", "Values", "pool_of"]


class Pool(Protocol):
    """Instances by index."""

    def pick(self, indices: Sequence[int]) -> list[Any]:
        """These instances, as values that JSON knows."""
        ...

    def structures(self) -> list[int]:
        """One index for every structure of instance."""
        ...

    def __len__(self) -> int:
        """How many there are."""
        ...


@dataclass(frozen=True, slots=True)
class Array:
    """Instances along the first axis of an array."""

    values: np.ndarray[Any, Any]

    def pick(self, indices: Sequence[int]) -> list[Any]:
        """Half and single precision with their shortest digits, bytes in TF Serving's base64 form."""
        return _plain(self.rows(indices))

    def rows(self, indices: Sequence[int]) -> np.ndarray[Any, Any]:
        """The same as an array."""
        return np.asarray(self.values[np.asarray(indices)])

    def structures(self) -> list[int]:
        """All instances of an array are alike."""
        return [0]

    def __len__(self) -> int:
        """Its first dimension."""
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Values:
    """Instances that are in memory already."""

    values: Sequence[Any]

    def pick(self, indices: Sequence[int]) -> list[Any]:
        """As they are."""
        return [self.values[index] for index in indices]

    def structures(self) -> list[int]:
        """They are alike: made by one rule."""
        return [0]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.values)


def pool_of(payloads: Payloads, inputs: Sequence[ModelInput] = ()) -> Pool:
    """The instances that a plan names; `inputs` are the model's, for payloads made from its signature.

    Raises `PayloadError`.
    """
    pool = _pool(payloads, inputs)
    if len(pool) == 0:
        source = payloads.npy or payloads.jsonl or payloads.csv or payloads.requests or "random payloads"
        raise PayloadError(f"could not use {source}: there is no instance")
    return pool


def _pool(payloads: Payloads, inputs: Sequence[ModelInput]) -> Pool:
    if payloads.npy is not None:
        return Array(_npy(payloads.npy))
    if payloads.jsonl is not None:
        return lines_in(payloads.jsonl)
    if payloads.csv is not None:
        return Array(_csv(payloads.csv))
    if payloads.requests is not None:
        return Requests(lines_in(payloads.requests))
    if payloads.body is not None:
        return Values([payloads.body])
    if payloads.random_shape is not None:
        shape = (payloads.count, *payloads.random_shape)
        return Array(np.random.default_rng(payloads.seed).random(shape, dtype=np.float32))
    if payloads.from_model:
        if not inputs:
            raise PayloadError("could not make payloads from the model's signature: it is not known")
        try:
            return Values(random_instances(inputs, payloads.count, payloads.seed))
        except ValueError as error:
            raise PayloadError(f"could not make payloads from the model's signature: {error}") from error
    raise PayloadError("the workload names no payloads: set one of npy, jsonl, csv, requests, random or body")


def _npy(path: Path) -> np.ndarray[Any, Any]:
    try:
        return open_npy(path)
    except ValueError as error:
        message, remedy = error.args
        raise PayloadError(f"could not use {path}: it {message}; {remedy}") from error
    except OSError as error:
        raise PayloadError(f"could not read payloads from {path}: {error}") from error


def _csv(path: Path) -> np.ndarray[Any, Any]:
    numbers, width = array("d"), 0
    try:
        with path.open(encoding=ENCODING, newline="") as file:
            for row in csv_rows(file):
                width = len(row)
                numbers.extend(row)
    except ValueError as error:
        raise PayloadError(f"could not use {path}: it {error.args[0]}; {error.args[-1]}") from error
    except OSError as error:
        raise PayloadError(f"could not read payloads from {path}: {error}") from error
    return np.frombuffer(numbers, dtype=np.float64).reshape(-1, width) if width else np.zeros((0, 1))


def _plain(values: np.ndarray[Any, Any]) -> list[Any]:
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        values = values.astype("U32").astype(np.float64)
    if values.dtype.kind == "S":
        return [_base64(item) for item in values.tolist()]
    plain: list[Any] = values.tolist()
    return plain


def _base64(item: Any) -> Any:
    if isinstance(item, list):
        return [_base64(inner) for inner in item]
    return {"b64": base64.b64encode(item).decode()}
