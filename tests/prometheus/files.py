"""What the folder `prometheus/` holds, parsed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2] / "prometheus"
CONFIG = ROOT / "prometheus.yml"
RULES = sorted((ROOT / "rules").glob("*.yml"))
ALERTS = sorted((ROOT / "alerts").glob("*.yml"))
TESTS = sorted((ROOT / "tests").glob("*.test.yml"))


def load(file: Path) -> Any:
    """A YAML file's value."""
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def rules(files: list[Path]) -> Iterator[dict[str, Any]]:
    """Every rule of the files, recordings and alerts."""
    for file in files:
        for group in load(file)["groups"]:
            yield from group["rules"]


def alerts() -> dict[str, dict[str, Any]]:
    """Alert name to rule."""
    return {rule["alert"]: rule for rule in rules(ALERTS)}


def recordings() -> set[str]:
    """The names that recording rules make."""
    return {rule["record"] for rule in rules(RULES + ALERTS) if "record" in rule}
