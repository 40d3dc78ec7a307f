"""Grafana's provisioning files, read more strictly than Grafana does: every doubt is a `ValueError`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

DATA_SOURCE = {"name", "uid", "type", "access", "url", "isDefault", "editable", "jsonData"}
PROVIDER = {
    "name", "orgId", "type", "folder", "folderUid", "disableDeletion", "allowUiUpdates", "updateIntervalSeconds",
    "options",
}  # fmt: skip
_VARIABLE = re.compile(r"(?<!\$)\$\{?([A-Z][A-Z0-9_]*)\}?")


@dataclass(frozen=True, slots=True)
class Provisioned:
    """What is there after the start: boards by uid, the home board, the data source's address."""

    boards: Mapping[str, str]
    home: Mapping[str, Any]
    prometheus: str


def read_provisioning(folder: Path, environment: Mapping[str, str]) -> Provisioned:
    """Read every file of the folder. Raises `OSError`, `KeyError` for an unset variable, or `ValueError`."""
    sources = _listed(folder / "datasources", "datasources", environment)
    providers = _listed(folder / "dashboards", "providers", environment)
    (source,) = sources
    _only(source, DATA_SOURCE)
    if (source["type"], source["access"], source["uid"]) != ("prometheus", "proxy", "prometheus"):
        raise ValueError(f"{source['name']} is not the Prometheus that the boards ask for")
    boards: dict[str, str] = {}
    for provider in providers:
        _only(provider, PROVIDER)
        for path in sorted(Path(provider["options"]["path"]).glob("*.json")):
            board = json.loads(path.read_text("utf-8"))
            if not board["panels"] or board["uid"] in boards or board.get("id"):
                raise ValueError(f"{path.name} is no board that can be provisioned: no panels, an id, or a second uid")
            boards[board["uid"]] = board["title"]
    home = json.loads(Path(environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]).read_text("utf-8"))
    if home["uid"] not in boards:
        raise ValueError(f"the home board {home['uid']} is none of {sorted(boards)}")
    return Provisioned(boards, home, source["url"])


def _listed(folder: Path, key: str, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.y*ml")):
        content = yaml.safe_load(path.read_text("utf-8"))
        if content.get("apiVersion") != 1 or not set(content) <= {"apiVersion", "prune", key}:
            raise ValueError(f"{path.name} is not of version 1, or has keys that Grafana passes over")
        found += _expanded(content[key], environment)
    return found


def _expanded(value: Any, environment: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {key: _expanded(each, environment) for key, each in value.items()}
        case list():
            return [_expanded(each, environment) for each in value]
        case str():
            return _VARIABLE.sub(lambda match: environment[match[1]], value)
        case _:
            return value


def _only(entry: Mapping[str, Any], known: set[str]) -> None:
    if unknown := set(entry) - known:
        raise ValueError(f"{entry.get('name')} has keys that Grafana does not know: {sorted(unknown)}")
