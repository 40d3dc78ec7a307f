"""What TensorFlow Serving says of a model: its versions and their states, its signatures and their inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from controller.edges.target_answer import reason
from controller.edges.target_call import Answer, Caller, NoAnswerError
from controller.generator.http_request import base_url
from controller.plans.plan import Plan
from controller.ports import Finding

AVAILABLE = "AVAILABLE"


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """One version and its state, as the server writes it, with the reason of a failed load."""

    number: int
    state: str
    trouble: str = ""


def state_finding(plan: Plan, caller: Caller) -> Finding:
    """Whether the wanted version of the model is there and available."""
    target = plan.target
    try:
        answer = caller.get(_url(plan))
    except NoAnswerError as error:
        return Finding("model", False, str(error))
    if answer.status == 404:
        why = f"there is no model {target.model!r} at {target.rest} ({reason(answer.content)})"
        return Finding("model", False, f"{why}; correct target.model or load it")
    found = versions(answer)
    if found is None:
        told = f"{answer.status} {reason(answer.content)}".rstrip()
        return Finding("model", False, f"{target.rest} does not answer as TensorFlow Serving does ({told})")
    return wanted(plan, found)


def versions(answer: Answer) -> Sequence[ModelVersion] | None:
    """The versions in a status answer, newest first; None when it is none."""
    try:
        rows = json.loads(answer.content)["model_version_status"]
        found = [ModelVersion(int(row["version"]), str(row["state"]), trouble(row.get("status") or {})) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return sorted(found, key=lambda version: -version.number) if answer.status == 200 else None


def identity(plan: Plan, caller: Caller) -> Mapping[str, Any]:
    """Versions with their states, newest first, and the server's own name; `unknown` says why there is nothing."""
    try:
        answer = caller.get(_url(plan))
    except NoAnswerError as error:
        return {"unknown": str(error)}
    found = versions(answer)
    if found is None:
        return {"unknown": f"{answer.status} {reason(answer.content)}".rstrip()}
    return {"versions": listed(found), "server": answer.headers.get("Server")}


def listed(found: Sequence[ModelVersion]) -> list[dict[str, Any]]:
    """Versions with their states for the record."""
    return [{"version": version.number, "state": version.state} for version in found]


def wanted(plan: Plan, found: Sequence[ModelVersion]) -> Finding:
    """Whether the wanted version is among these, newest first, and whether another is about to replace it."""
    target = plan.target
    ready = [version.number for version in found if version.state == AVAILABLE]
    all_told = ", ".join(f"{version.number} {version.state}{version.trouble}" for version in found) or "no version"
    if target.version is not None and target.version not in ready:
        why = f"version {target.version} of {target.model} is not available (the server has {all_told})"
        return Finding("model", False, f"{why}; correct target.version, load it, or wait until it is {AVAILABLE}")
    if not ready:
        why = f"no version of {target.model} is available (the server has {all_told})"
        return Finding("model", False, f"{why}; wait until one is {AVAILABLE}, or look at the server's log")
    if target.version is None and target.label is None and len(ready) > 1:
        which = f"versions {', '.join(map(str, sorted(ready)))} of {target.model} are available"
        return Finding("model", True, f"{which}, the server answers with the highest; set target.version", warning=True)
    loading = [version.number for version in found if version.state in ("START", "LOADING")]
    if target.version is None and any(number > max(ready) for number in loading):
        why = f"version {max(loading)} of {target.model} is about to replace version {max(ready)}"
        return Finding("model", True, f"{why}: the run would measure both; wait, or set target.version", warning=True)
    return Finding("model", True, f"{target.model} is there: {all_told}")


def _url(plan: Plan) -> str:
    """The status address of the model as a whole: asked with a version, the server would not tell which it has."""
    return f"{base_url(plan.target)}/v1/models/{quote(plan.target.model or '', safe='')}"


def trouble(status: Mapping[str, Any]) -> str:
    """Why a version did not load, in parentheses; empty for one that did."""
    code, message = status.get("error_code", "OK"), status.get("error_message", "")
    return "" if code in ("OK", 0) else f" ({code}: {' '.join(str(message).split())[:200]})"
