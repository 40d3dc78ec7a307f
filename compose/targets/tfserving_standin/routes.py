"""What a REST path asks for. The real server matches paths without regard to case but acts only on lower-case verbs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from .codes import Failure, invalid

INFERENCE = re.compile(
    r"/v1/models/([^/:]+)(?:/versions/([0-9]+)|/labels/([^/:]+))?:(classify|regress|predict)", re.IGNORECASE
)
STATUS = re.compile(r"/v1/models(?:/([^/:]+))?(?:/versions/([0-9]+)|/labels/([^/:]+))?(?:/(metadata))?", re.IGNORECASE)
LARGEST_VERSION = 2**63 - 1
CACHED_LENGTH = 256
INFERENCES = frozenset({"predict", "classify", "regress"})


@dataclass(frozen=True, slots=True)
class Route:
    """What is asked (`kind`: predict, classify, regress, status, metadata, options, malformed) of which model.

    `api` is the verb as written, a label of the metric page. A malformed route has a failure, a `silent` one no body.
    """

    kind: str
    model: str = ""
    version: int | None = None
    label: str | None = None
    api: str = ""
    failure: Failure | None = None
    silent: bool = False


def is_api(target: str) -> bool:
    """Whether a request target belongs to the API at all; everything else gets a plain 404."""
    return target[:4].lower() == "/v1/"


def route(method: str, target: str) -> Route:
    """The route of a request target (path and query: the real server looks at both)."""
    return _route(method, target) if len(target) <= CACHED_LENGTH else _route.__wrapped__(method, target)


@lru_cache(maxsize=4096)
def _route(method: str, target: str) -> Route:
    if method == "OPTIONS":
        return Route("options")
    match method:
        case "POST":
            found = INFERENCE.fullmatch(target)
        case "GET":
            found = STATUS.fullmatch(target)
        case _:
            found = None
    malformed = invalid(f"Malformed request: {method} {target}")
    if found is None:
        return Route("malformed", failure=malformed)
    model, version_text, label_text, last = found.groups()
    model = unquote(model or "")
    api = last or "" if method == "POST" else ""
    version = int(version_text) if version_text else None
    if version is not None and version > LARGEST_VERSION:
        failure = invalid(f"Failed to convert version: {version_text} to numeric.")
        return Route("malformed", model, failure=failure, api=api, silent=True)
    label = unquote(label_text) if label_text else None
    if method == "POST":
        if last not in INFERENCES:
            return Route("malformed", model, version, label, api, malformed)
        return Route(last, model, version, label, api)
    if not model:
        return Route("malformed", failure=invalid("Missing model name in request."))
    return Route("metadata" if last == "metadata" else "status", model, version, label)
