"""The bytes of the requests that a workload sends: instances from a file or at random, grouped and encoded as JSON.

Deterministic: the same workload gives the same bodies in the same order on every machine, and the parts of several
workers together are exactly the whole pool.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from controller.plans.plan import Payloads, Workload

TargetKind = Literal["tfserving", "http"]

POOL_LIMIT_BYTES = 512 * 1024 * 1024
"""A generator process keeps its bodies in memory; a pool that would not fit beside it is refused."""

MOST_KINDS = 8
"""Structures of instance that `exemplars` looks for; a file with more is not a list of like instances."""


class PayloadError(ValueError):
    """The payload source cannot be used; the message names the file, the place and the remedy."""


@dataclass(frozen=True, slots=True)
class _Array:
    """Instances along the first axis of an array."""

    values: np.ndarray[Any, Any]

    def pick(self, indices: Sequence[int]) -> list[Any]:
        return _plain(np.asarray(self.values[np.asarray(indices)]))

    def structures(self) -> list[int]:
        return [0]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Instances as JSON values, one from each line of a file."""

    values: tuple[Any, ...]

    def pick(self, indices: Sequence[int]) -> list[Any]:
        return [self.values[index] for index in indices]

    def structures(self) -> list[int]:
        first: dict[str, int] = {}
        for index, value in enumerate(self.values):
            first.setdefault(_structure(value), index)
        return list(first.values())

    def __len__(self) -> int:
        return len(self.values)


def bodies(
    workload: Workload, kind: TargetKind, *, part: int = 0, parts: int = 1, most: int | None = None
) -> list[bytes]:
    """Request bodies of worker `part` of `parts`, in sending order, never empty. Raises `PayloadError`.

    Every body carries `rows` instances; the last one starts over at the pool's beginning to be full. With fewer bodies
    than parts, parts share bodies. `most`: only the first ones.
    """
    if not 0 <= part < parts:
        raise ValueError(f"part {part} is not one of {parts} parts")
    pool = _pool(workload.payloads)
    groups = list(_groups(pool, workload.payloads))
    mine = (groups[part::parts] or [groups[part % len(groups)]])[:most]
    encoded: list[bytes] = []
    size = 0
    for group in mine:
        encoded.append(encode(workload, kind, pool.pick(group)))
        size += len(encoded[-1])
        if size > POOL_LIMIT_BYTES:
            raise PayloadError(
                f"could not prepare {len(mine)} request bodies: they need more than {POOL_LIMIT_BYTES // 2**20} MiB in "
                "one process; use fewer or smaller payloads, or more workers"
            )
    return encoded


def exemplars(workload: Workload, kind: TargetKind) -> list[bytes]:
    """One body for every structure of instance in the pool (names, nesting and types of fields; at most eight)."""
    pool = _pool(workload.payloads)
    firsts = pool.structures()[:MOST_KINDS]
    return [encode(workload, kind, pool.pick([first] * workload.payloads.rows)) for first in firsts]


def digest(workload: Workload, kind: TargetKind) -> str:
    """SHA-256 of all bodies in order: equal for two workloads that send the same bytes."""
    found = hashlib.sha256()
    for body in bodies(workload, kind):
        found.update(len(body).to_bytes(8, "big") + body)
    return found.hexdigest()


def encode(workload: Workload, kind: TargetKind, rows: Sequence[Any]) -> bytes:
    """One request body of these instances.

    TF Serving's row form is `instances`, its column form `inputs` (by input name where instances are objects). An
    `http` target gets the same forms from arrays, but a line of a `jsonl` file is its whole request body.
    """
    if kind == "http" and workload.payloads.jsonl is not None:
        if len(rows) != 1:
            raise PayloadError(
                f"could not put {len(rows)} rows into one request: a line of {workload.payloads.jsonl} is a whole "
                "request body for an http target; set rows to 1"
            )
        return _json(rows[0], kind)
    body: dict[str, Any] = {}
    if workload.signature is not None and kind == "tfserving":
        body["signature_name"] = workload.signature
    match workload.form:
        case "row":
            body["instances"] = list(rows)
        case "column":
            body["inputs"] = _columns(rows)
    return _json(body, kind)


def _columns(rows: Sequence[Any]) -> Any:
    if not isinstance(rows[0], dict):
        return list(rows)
    names = rows[0].keys()
    if any(not isinstance(row, dict) or row.keys() != names for row in rows):
        raise PayloadError(
            "could not put instances into columns: they do not all have the same inputs; set rows to 1 or form to row"
        )
    return {name: [row[name] for row in rows] for name in names}


def _json(value: Any, kind: TargetKind) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=kind == "tfserving").encode()
    except ValueError as error:
        raise PayloadError(
            "could not encode a payload: it holds NaN or Infinity, which only TF Serving accepts; clean the data"
        ) from error


def _groups(pool: _Array | _Lines, payloads: Payloads) -> Iterator[list[int]]:
    total, rows = len(pool), payloads.rows
    order = np.arange(total)
    if payloads.order == "shuffled":
        order = np.random.default_rng(payloads.seed).permutation(total)
    for start in range(0, total, rows):
        yield order.take(range(start, start + rows), mode="wrap").tolist()


def _pool(payloads: Payloads) -> _Array | _Lines:
    pool: _Array | _Lines
    if payloads.npy is not None:
        pool = _Array(_npy(payloads.npy))
    elif payloads.jsonl is not None:
        pool = _Lines(tuple(_jsonl(payloads.jsonl)))
    elif payloads.random_shape is not None:
        shape = (payloads.count, *payloads.random_shape)
        pool = _Array(np.random.default_rng(payloads.seed).random(shape, dtype=np.float32))
    else:
        raise PayloadError("the workload names no payloads: set one of npy, jsonl or random")
    if len(pool) == 0:
        raise PayloadError(f"could not use {payloads.npy or payloads.jsonl or 'random payloads'}: there is no instance")
    return pool


def _npy(path: Path) -> np.ndarray[Any, Any]:
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise PayloadError(f"could not read payloads from {path}: {error}") from error
    if not isinstance(values, np.ndarray) or values.ndim == 0 or not _readable(values.dtype):
        raise PayloadError(
            f"could not use {path}: it must hold an array of numbers or strings, instances along its first axis"
        )
    return values


def _readable(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuUS" or (dtype.kind == "f" and dtype.itemsize <= 8)


def _jsonl(path: Path) -> Iterator[Any]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise PayloadError(f"{path}:{number}: not a JSON value: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise PayloadError(f"could not read payloads from {path}: {error}") from error


def _plain(values: np.ndarray[Any, Any]) -> list[Any]:
    """Python values; half and single precision with their shortest digits, bytes in TF Serving's base64 form."""
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


def _structure(value: Any) -> str:
    match value:
        case dict():
            return "{" + ",".join(f"{name}:{_structure(value[name])}" for name in sorted(value)) + "}"
        case list():
            return f"[{len(value)}x{_structure(value[0])}]" if value else "[]"
        case bool() | None:
            return str(type(value).__name__)
        case int() | float():
            return "number"
        case _:
            return "text"
