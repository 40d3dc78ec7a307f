"""The name of a plan's content: equal for plans that mean the same, however they are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from controller.plans.plan import Plan
from controller.plans.tls import FILES

_NOT_CONTENT = frozenset({"digest", "source", "path", "text", "recording"})


def digest_of(plan: Plan, written: Mapping[str, Path], locustfile: Path | None = None) -> str:
    """SHA-256 (hexadecimal) of what the plan says, defaults filled in, formatting, comments and anchors gone.

    `written` and `locustfile` are the paths as the plan writes them, so that the folder of the plan does not matter.
    """
    sources: dict[str, Any] = {name: written.get(name) for name in ("npy", "jsonl", "csv", "requests")}
    payloads = replace(plan.workload.payloads, **sources)
    own = plan.workload.locustfile
    if own is not None and locustfile is not None:
        own = replace(own, file=locustfile)
    known, tls = plan.workload.expected, plan.target.tls
    if known is not None:
        known = replace(known, file=Path(known.file.name))
    if tls is not None:
        files: dict[str, Any] = {name: path and path.name for name in FILES for path in [getattr(tls, name)]}
        tls = replace(tls, **files)
    workload = replace(plan.workload, payloads=payloads, locustfile=own, expected=known)
    workers = 0 if plan.workers_auto else plan.workers
    said = replace(plan, workload=workload, target=replace(plan.target, tls=tls), workers=workers)
    text = json.dumps(_normal(said), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _normal(value: Any) -> Any:
    if is_dataclass(value):
        names = (field.name for field in fields(value) if field.name not in _NOT_CONTENT)
        return {name: _normal(getattr(value, name)) for name in names}
    match value:
        case timedelta():
            return f"{value // timedelta(microseconds=1)}us"
        case Path():
            return value.as_posix()
        case tuple():
            return [_normal(item) for item in value]
        case _:
            return value
