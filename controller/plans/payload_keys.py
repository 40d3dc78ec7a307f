"""The payload pool of a plan: its keys, what must fit together, and the value that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path

from controller.plans.numbers import Whole
from controller.plans.payload_files import check_csv, check_jsonl, check_npy, check_requests
from controller.plans.plan import Payloads
from controller.plans.readers import Choice, Text
from controller.plans.tables import Fields, Key, ListOf, Record

MAX_RANDOM_VALUES = 64 * 1024 * 1024
"""Numbers in a pool of random payloads: 256 MiB as float32."""

FILES: Mapping[str, Callable[[Path, int], None]] = {
    "npy": check_npy,
    "jsonl": check_jsonl,
    "csv": check_csv,
    "requests": check_requests,
}
"""Sources that are files, and what looks at them."""

SOURCES = (*FILES, "random", "body")
"""Where payloads can come from."""


def _check_random(fields: Fields) -> None:
    if ("shape" in fields.lines) == ("from" in fields.lines):
        fields.refuse("shape", "has to stand here, or from", "add one of shape: [16] and from: model")
    shape, count = fields.get("shape"), fields.get("count", 1000)
    if shape is None or not all(isinstance(side, int) for side in shape):
        return
    if prod(shape) * count > MAX_RANDOM_VALUES:
        fields.refuse("shape", f"makes a pool of {prod(shape) * count} numbers", f"keep to {MAX_RANDOM_VALUES}")


_RANDOM = Record(
    {
        "shape": Key(ListOf(Whole(1, 2**24), most=8), "Shape of one instance; float32 in [0, 1)."),
        "from": Key(Choice(("model",)), "tfserving: types and shapes from the model's signature."),
        "count": Key(Whole(1, 1_000_000), "Instances in the pool (1000)."),
    },
    lambda f: f.values,
    _check_random,
)


def _check_payloads(fields: Fields) -> None:
    given = [name for name in SOURCES if name in fields.lines]
    if not given:
        fields.findings.add(fields.line, fields.key, "names no source", f"add one of {', '.join(SOURCES)}")
    for extra in given[1:]:
        fields.refuse(extra, f"stands beside {given[0]}", "keep one source")
    rows = fields.get("rows", 1)
    for name, check in FILES.items():
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
    whole = next((name for name in ("requests", "body") if name in given), None)
    if whole is not None and rows != 1:
        fields.refuse("rows", f"has no meaning for {whole}: each is a whole request", "remove it")


def _payloads(fields: Fields) -> Payloads:
    values = dict(fields.values)
    for name in FILES:
        if name in values:
            values[name] = (fields.findings.folder / values[name]).resolve()
    if "random" in values:
        pool = values.pop("random").built
        source = {"random_shape": pool["shape"]} if "shape" in pool else {"from_model": True}
        values |= source | ({"count": pool["count"]} if "count" in pool else {})
    return Payloads(**values)


_PATH = Text("a path", longest=1000)

PAYLOADS = Record(
    {
        "npy": Key(_PATH, "A .npy file, one instance a row; relative to the plan."),
        "jsonl": Key(_PATH, "A file with one JSON instance a line; relative to the plan."),
        "csv": Key(_PATH, "A file with one instance of numbers a line, maybe under a header; relative to the plan."),
        "requests": Key(_PATH, "http: recorded requests, JSON Lines of {at, method, path, headers, body}."),
        "random": Key(_RANDOM, "A pool of random instances, the same for the same seed."),
        "body": Key(Text("a text", longest=65536), "http: one body for every request."),
        "rows": Key(Whole(1, 4096), "Instances in one request (1)."),
        "order": Key(Choice(("shuffled", "sequential")), "In which order the pool is sent (shuffled)."),
        "seed": Key(Whole(0, 2**32 - 1), "Of shuffling and of random payloads (1)."),
    },
    _payloads,
    _check_payloads,
)
"""What is sent."""


def written_paths(fields: Fields) -> dict[str, Path]:
    """Payload paths as the plan writes them, so that a digest does not depend on where the plan lies."""
    payloads = fields.get("workload").get("payloads")
    return {} if payloads is None else {name: Path(payloads.get(name)) for name in FILES if name in payloads.values}
