"""The bytes of the requests that a workload sends: instances from a file or at random, grouped and encoded as JSON.

Deterministic: the same workload gives the same bodies in the same order on every machine, and the parts of several
workers together are exactly the whole pool, as long as it fits: of a pool whose bodies would take more than
`POOL_LIMIT_BYTES` in a process, each part is a sample, evenly spread over the pool and the same for the same seed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from controller.plans.model_inputs import ModelInput
from controller.plans.plan import Payloads, Workload
from controller.plans.pools import Array, PayloadError, Pool, pool_of
from controller.plans.recorded import Recorded

__all__ = [
    "Body",
    "PayloadError",
    "bodies",
    "digest",
    "encode",
    "exemplars",
    "groups_of",
    "order_of",
    "request_bodies",
    "size_of",
]

TargetKind = Literal["tfserving", "http"]

POOL_LIMIT_BYTES = 64 * 1024 * 1024
"""A generator process keeps its bodies in memory, and it is to stay small."""

MOST_KINDS = 8
"""Structures of instance that `exemplars` looks for; a file with more is not a list of like instances."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Body:
    """A request's body, and the recorded request that it came from."""

    content: bytes
    recorded: Recorded | None = None


def request_bodies(
    workload: Workload,
    kind: TargetKind,
    *,
    part: int = 0,
    parts: int = 1,
    most: int | None = None,
    inputs: Sequence[ModelInput] = (),
) -> Iterator[Body]:
    """Request bodies of worker `part` of `parts`, in sending order, at least one. Raises `PayloadError`.

    Every body carries `rows` instances; the last one starts over at the pool's beginning to be full. With fewer bodies
    than parts, parts share bodies. `most`: only the first ones. `inputs` are the model's, for `from_model`.
    """
    if not 0 <= part < parts:
        raise ValueError(f"part {part} is not one of {parts} parts")
    pool = pool_of(workload.payloads, inputs)
    groups = groups_of(len(pool), workload.payloads)
    mine = groups[part::parts] if part < len(groups) else groups[part % len(groups) :][:1]
    mine = mine[:most] if most is not None else _sample(workload, kind, pool, mine)
    for group in mine:
        yield _body(workload, kind, pool, group.tolist())


def bodies(
    workload: Workload,
    kind: TargetKind,
    *,
    part: int = 0,
    parts: int = 1,
    most: int | None = None,
    inputs: Sequence[ModelInput] = (),
) -> list[bytes]:
    """The contents alone."""
    found = request_bodies(workload, kind, part=part, parts=parts, most=most, inputs=inputs)
    return [body.content for body in found]


def exemplars(workload: Workload, kind: TargetKind, inputs: Sequence[ModelInput] = ()) -> list[Body]:
    """One body for every structure of instance in the pool (names, nesting and types of fields; at most eight)."""
    pool = pool_of(workload.payloads, inputs)
    firsts = pool.structures()[:MOST_KINDS]
    return [_body(workload, kind, pool, [first] * workload.payloads.rows) for first in firsts]


def digest(workload: Workload, kind: TargetKind) -> str:
    """SHA-256 of all bodies in order: equal for two workloads that send the same bytes."""
    found = hashlib.sha256()
    for body in bodies(workload, kind):
        found.update(len(body).to_bytes(8, "big") + body)
    return found.hexdigest()


def size_of(payloads: Payloads) -> int:
    """Instances in the pool. Raises `PayloadError`."""
    return len(pool_of(payloads))


def order_of(payloads: Payloads) -> list[int]:
    """In which order the instances are sent, before they are divided among workers. Raises `PayloadError`."""
    order: list[int] = groups_of(size_of(payloads), payloads).ravel().tolist()
    return order


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
        return _json(rows[0], workload, kind)
    body: dict[str, Any] = {}
    if workload.signature is not None and kind == "tfserving":
        body["signature_name"] = workload.signature
    match workload.form:
        case "row":
            body["instances"] = list(rows)
        case "column":
            body["inputs"] = _columns(rows)
    return _json(body, workload, kind)


def _body(workload: Workload, kind: TargetKind, pool: Pool, group: Sequence[int]) -> Body:
    payloads = workload.payloads
    if payloads.body is not None:
        return Body(payloads.body.encode())
    rows = pool.pick(group)
    if payloads.requests is not None:
        return Body(rows[0].body, rows[0])
    try:
        return Body(encode(workload, kind, rows))
    except PayloadError as error:
        if isinstance(pool, Array) and pool.values.dtype.kind == "f" and not np.isfinite(pool.rows(group)).all():
            bad = next(index for index in group if not np.isfinite(pool.rows([index])).all())
            raise PayloadError(f"{error} (instance {bad + 1} of {payloads.npy or payloads.csv})") from error
        raise


def _columns(rows: Sequence[Any]) -> Any:
    if not isinstance(rows[0], dict):
        return list(rows)
    names = rows[0].keys()
    if any(not isinstance(row, dict) or row.keys() != names for row in rows):
        raise PayloadError(
            "could not put instances into columns: they do not all have the same inputs; set rows to 1 or form to row"
        )
    return {name: [row[name] for row in rows] for name in names}


def _json(value: Any, workload: Workload, kind: TargetKind) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=kind == "tfserving" and workload.allow_nan).encode()
    except ValueError as error:
        remedy = "clean the data" + (", or set allow_nan: true" if kind == "tfserving" else "")
        raise PayloadError(f"could not encode a payload: it holds NaN or Infinity, no JSON; {remedy}") from error


def groups_of(total: int, payloads: Payloads) -> np.ndarray[Any, Any]:
    """Indices of the instances of each request, one row a request."""
    rows, order = payloads.rows, np.arange(total)
    if payloads.order == "shuffled":
        order = np.random.default_rng(payloads.seed).permutation(total)
    return order.take(np.arange(math.ceil(total / rows) * rows), mode="wrap").reshape(-1, rows)


def _sample(workload: Workload, kind: TargetKind, pool: Pool, groups: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """As many groups as fit into memory, by the size of a few of them."""
    few = groups[:: max(len(groups) // 16, 1)][:16]
    largest = max(len(_body(workload, kind, pool, group.tolist()).content) for group in few)
    fit = POOL_LIMIT_BYTES // max(largest, 1)
    if fit == 0:
        raise PayloadError(
            f"could not prepare requests: a body has {largest:,} bytes, and a process keeps {POOL_LIMIT_BYTES:,}; "
            "use smaller payloads, or fewer rows"
        )
    if len(groups) <= fit:
        return groups
    log.warning("the pool has %d requests, of which a sample of %d fits into memory", len(groups), fit)
    return groups[np.linspace(0, len(groups) - 1, fit).astype(np.int64)]
