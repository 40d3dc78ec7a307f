"""The workload of a plan: its keys, what must fit together, and the value that it becomes."""

from __future__ import annotations

from datetime import timedelta
from math import prod
from pathlib import Path

from controller.plans.header_text import check_header
from controller.plans.numbers import Duration, DurationOrPair, Whole
from controller.plans.payload_files import check_jsonl, check_npy
from controller.plans.plan import Payloads, Workload
from controller.plans.readers import Choice, Text
from controller.plans.tables import Fields, Key, ListOf, Pairs, Record
from controller.plans.target import PATH

MAX_RANDOM_VALUES = 64 * 1024 * 1024
"""Numbers in a pool of random payloads: 256 MiB as float32."""

_ZERO = timedelta(0)
_MINUTES = timedelta(minutes=10)


def _check_random(fields: Fields) -> None:
    shape, count = fields.get("shape"), fields.get("count", 1000)
    if shape is None or not all(isinstance(side, int) for side in shape):
        return
    if prod(shape) * count > MAX_RANDOM_VALUES:
        fields.refuse("shape", f"makes a pool of {prod(shape) * count} numbers", f"keep to {MAX_RANDOM_VALUES}")


_RANDOM = Record(
    {
        "shape": Key(ListOf(Whole(1, 2**24), most=8), "Shape of one instance; float32 in [0, 1).", required=True),
        "count": Key(Whole(1, 1_000_000), "Instances in the pool (1000)."),
    },
    lambda f: f.values,
    _check_random,
)
_SOURCES = ("npy", "jsonl", "random")


def _check_payloads(fields: Fields) -> None:
    given = [name for name in _SOURCES if name in fields.lines]
    if not given:
        fields.findings.add(fields.line, fields.key, "names no source", "add one of npy, jsonl, random")
    for extra in given[1:]:
        fields.refuse(extra, f"stands beside {given[0]}", "keep one source")
    rows = fields.get("rows", 1)
    for name, check in (("npy", check_npy), ("jsonl", check_jsonl)):
        text = fields.get(name)
        if text is not None:
            try:
                check(fields.findings.folder / text, rows)
            except ValueError as error:
                message, remedy = error.args
                fields.refuse(name, f"{text} {message}", remedy)
    pool = fields.get("random")
    count = pool.get("count", 1000) if isinstance(pool, Fields) else rows
    if count < rows:
        fields.refuse("rows", f"{rows} is more than the {count} instances of the pool", "lower it or raise count")


def _payloads(fields: Fields) -> Payloads:
    values = dict(fields.values)
    for name in ("npy", "jsonl"):
        if name in values:
            values[name] = (fields.findings.folder / values[name]).resolve()
    if "random" in values:
        pool = values.pop("random").built
        values |= {"random_shape": pool["shape"]} | ({"count": pool["count"]} if "count" in pool else {})
    return Payloads(**values)


_PAYLOADS = Record(
    {
        "npy": Key(Text("a path", longest=1000), "A .npy file, one instance a row; relative to the plan."),
        "jsonl": Key(Text("a path", longest=1000), "A file with one JSON instance a line; relative to the plan."),
        "random": Key(_RANDOM, "A pool of random instances, the same for the same seed."),
        "rows": Key(Whole(1, 4096), "Instances in one request (1)."),
        "order": Key(Choice(("shuffled", "sequential")), "In which order the pool is sent (shuffled)."),
        "seed": Key(Whole(0, 2**32 - 1), "Of shuffling and of random payloads (1)."),
    },
    _payloads,
    _check_payloads,
)

WORKLOAD = Record(
    {
        "protocol": Key(Choice(("rest",), later=("grpc",)), "How requests are sent (rest)."),
        "payloads": Key(_PAYLOADS, "What is sent.", required=True),
        "form": Key(Choice(("row", "column")), "tfserving: `instances` or `inputs` (row)."),
        "signature": Key(Text("a signature's name", pattern=r"[A-Za-z0-9_./-]+"), "tfserving: the model's signature."),
        "path": Key(PATH, "http: the path that is posted to."),
        "headers": Key(Pairs(check_header), "Request headers; secrets as ${env:NAME}."),
        "timeout": Key(Duration(timedelta(milliseconds=1), _MINUTES), "When a request is given up (3s)."),
        "think_time": Key(
            DurationOrPair(Duration(_ZERO, _MINUTES)), "A user's pause between requests, or [least, most] (0s)."
        ),
        "required_fields": Key(
            ListOf(Text("a field's name")), "Fields that an answer must have; tfserving's own unless told."
        ),
    },
    lambda f: Workload(**(f.values | {"payloads": f.get("payloads").built})),
)
"""What one request is."""


def written_paths(fields: Fields) -> dict[str, Path]:
    """Payload paths as the plan writes them, so that a digest does not depend on where the plan lies."""
    payloads = fields.get("workload").get("payloads")
    if payloads is None:
        return {}
    return {name: Path(payloads.get(name)) for name in ("npy", "jsonl") if name in payloads.values}
