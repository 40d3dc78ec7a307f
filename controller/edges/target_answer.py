"""Is this what an answer of the target should be? Pure; looks closer than the generator can afford to."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Wanted:
    """`fields` are top-level names; `rows` is how many results the list under `per_row` must have (None: unknown)."""

    fields: Sequence[str]
    per_row: str | None = None
    rows: int = 1
    status: Sequence[int] = (200,)


@dataclass(frozen=True, slots=True)
class Looked:
    """`wrong` says why the answer is unusable; `odd` what is remarkable about a usable one."""

    wrong: str | None = None
    odd: str | None = None


def look(status: int, content: bytes, wanted: Wanted) -> Looked:
    """Judge one answer."""
    if status not in wanted.status:
        return Looked(wrong=f"{status} {reason(content)}".rstrip())
    if not wanted.fields:
        return Looked()
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return Looked(wrong=f"200 with something that is not JSON: {_short(content)}")
    if not isinstance(answer, dict):
        return Looked(wrong=f"200 with JSON that is not an object: {_short(content)}")
    missing = [name for name in wanted.fields if name not in answer]
    if missing:
        return Looked(wrong=f"200 without {', '.join(missing)}; it has {', '.join(sorted(answer)) or 'no fields'}")
    results = answer.get(wanted.per_row) if wanted.per_row else None
    if isinstance(results, list) and len(results) != wanted.rows:
        return Looked(wrong=f"200 with {len(results)} results for {wanted.rows} rows")
    return Looked(odd="it holds NaN or Infinity, which is not JSON" if _not_finite(answer) else None)


def reason(content: bytes) -> str:
    """What an error's body says, in one short line."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return _short(content)
    told = body.get("error") if isinstance(body, dict) else None
    return " ".join(str(told).split())[:300] if told else _short(content)


def _short(content: bytes) -> str:
    return " ".join(content[:200].decode(errors="replace").split())


def _not_finite(value: Any) -> bool:
    stack = [value]
    while stack:
        match stack.pop():
            case float() as number if not math.isfinite(number):
                return True
            case list() as items:
                stack += items
            case dict() as table:
                stack += table.values()
            case _:
                pass
    return False
