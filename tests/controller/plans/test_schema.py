"""The exported JSON Schema: pinned, and of one mind with the loader about the form of plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.plans.schema import PLAN, json_schema
from tests.controller.schema_rules import faults

PLANS = Path(__file__).parent
SHIPPED = sorted((Path(__file__).parents[3] / "compose" / "plans").glob("*.yaml"))
VALID = [*sorted((PLANS / "valid").glob("*.yaml")), *SHIPPED]
GOLDEN = PLANS / "schema.json"

STRUCTURAL = (
    "discard_too_long",  # one soak there has no discard at all
    "durations",
    "empty_lists",
    "later_versions",
    "list",
    "numbers",
    "payload_sources",
    "schedule",
    "schedule_word",
    "stage_shapes",
    "target_http",
    "target_kind",
    "target_tfserving",
    "texts",
    "unknown_keys",
    "version_2",
    "version_missing",
    "version_text",
    "words",
    "wrong_forms",
    "wrong_forms_below",
)
"""Invalid plans whose form alone is wrong, so that an editor shows it."""


def judged(path: Path) -> list[str]:
    """Faults of a plan file, read as an editor would."""
    return list(faults(json_schema(), yaml.safe_load(path.read_text())))


def test_the_schema_is_the_pinned_one() -> None:
    """After a change on purpose: `stagelight check --schema > tests/controller/plans/schema.json`."""
    assert json_schema() == json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_the_schema_accepts_what_the_loader_accepts(path: Path) -> None:
    assert judged(path) == []


@pytest.mark.parametrize("name", STRUCTURAL)
def test_the_schema_refuses_a_wrong_form(name: str) -> None:
    assert judged(PLANS / "invalid" / f"{name}.yaml")


def test_every_object_of_the_schema_is_closed_and_every_key_explained() -> None:
    def walk(rule: Any) -> None:
        if isinstance(rule, dict):
            for key, inner in rule.get("properties", {}).items():
                assert inner.get("description"), key
            if rule.get("type") == "object":
                assert "additionalProperties" in rule
            for inner in rule.values():
                walk(inner)
        if isinstance(rule, list):
            for inner in rule:
                walk(inner)

    walk(json_schema())


def test_the_reference_plan_and_the_valid_plans_show_every_key() -> None:
    shown: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            shown.update(value)
            for inner in value.values():
                walk(inner)
        if isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(yaml.safe_load(next(path for path in SHIPPED if path.stem == "reference").read_text()))
    assert set(PLAN.keys) <= shown
    for path in VALID:
        walk(yaml.safe_load(path.read_text()))
    known: set[str] = set()

    def keys(rule: Any) -> None:
        if isinstance(rule, dict):
            known.update(rule.get("properties", {}))
            for inner in rule.values():
                keys(inner)
        if isinstance(rule, list):
            for inner in rule:
                keys(inner)

    keys(json_schema())
    assert known - shown == {"npy"}  # wants a file in a binary form; its own tests make one
