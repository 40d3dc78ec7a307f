"""Recorded requests: JSON Lines of {at, method, path, headers, body}, each a whole request to an http target.

`at` is the second at which it was sent, on any clock; only differences matter. `body` is a text, sent as it is, or any
other JSON value, sent as JSON; `body_base64` holds bytes instead. Only `path` has to be there.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.plans.json_lines import BadLine, json_lines

_KEYS = frozenset({"at", "method", "path", "headers", "body", "body_base64"})
_METHOD = re.compile(r"[A-Z]{1,20}")
_PATH = re.compile(r"/[!-~]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request; `at` in seconds since the first of the file, None when the file has no times."""

    at: float | None
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def request_problem(value: Any) -> str | None:
    """What is wrong with one line's value, or None."""
    if not isinstance(value, dict):
        return "no JSON object"
    if unknown := sorted(value.keys() - _KEYS):
        return f"the unknown key {unknown[0]!r}"
    at, headers = value.get("at"), value.get("headers", {})
    if at is not None and (isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at)):
        return "an `at` that is no number of seconds"
    if not isinstance(value.get("path"), str) or not _PATH.fullmatch(value["path"]):
        return "no `path` that starts with /"
    if not isinstance(value.get("method", "GET"), str) or not _METHOD.fullmatch(value.get("method", "GET")):
        return "a `method` that is none"
    if not isinstance(headers, dict) or not all(_fits(name, text) for name, text in headers.items()):
        return "`headers` that are no object of texts"
    if "body" in value and "body_base64" in value:
        return "both body and body_base64"
    try:
        base64.b64decode(value.get("body_base64", ""), validate=True)
    except (binascii.Error, TypeError, ValueError):
        return "a `body_base64` that is not base64"
    return None


def read_requests(path: Path) -> Iterator[Recorded]:
    """All requests of a file, in its order. Raises `OSError` and `ValueError` that names the line."""
    first: float | None = None
    for number, _, value in json_lines(path):
        if isinstance(value, BadLine):
            raise ValueError(f"{path}:{number}: {value.what}")  # noqa: TRY004 - a wrong file
        if (problem := request_problem(value)) is not None:
            raise ValueError(f"{path}:{number}: holds {problem}")
        first = value.get("at") if first is None else first
        yield as_request(value, first)


def as_request(value: dict[str, Any], first: float | None) -> Recorded:
    """What a line without problems says; `first` is the time of the file's first request."""
    at = value.get("at")
    since = None if at is None or first is None else at - first
    body = _body(value)
    headers = tuple(value.get("headers", {}).items())
    return Recorded(since, value.get("method", "POST" if body else "GET"), value["path"], headers, body)


def _body(value: dict[str, Any]) -> bytes:
    if "body_base64" in value:
        return base64.b64decode(value["body_base64"])
    match value.get("body"):
        case None:
            return b""
        case str() as text:
            return text.encode()
        case other:
            return json.dumps(other, separators=(",", ":")).encode()


def _fits(name: str, text: Any) -> bool:
    return isinstance(text, str) and text.isascii() and text.isprintable() and bool(_HEADER.fullmatch(name))
