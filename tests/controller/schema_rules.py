"""The part of JSON Schema that our schema uses, as a judge of plain data; an unknown rule is an error, not a pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
NOT_RULES = {"$schema", "title", "description"}


def faults(rule: dict[str, Any], value: Any, at: str = "") -> Iterator[str]:
    """Where `value` breaks `rule`."""
    for word, limit in rule.items():
        if word not in NOT_RULES and not holds(word, limit, value, rule):
            yield f"{at or 'top'}: {word}"
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from faults(rule_for(rule, name), inner, f"{at}.{name}")
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from faults(rule.get("items", {}), inner, f"{at}[{index}]")


def rule_for(rule: dict[str, Any], name: str) -> dict[str, Any]:
    """The rule for a property's value."""
    if name in rule.get("properties", {}):
        return dict(rule["properties"][name])
    extra = rule.get("additionalProperties", {})
    return extra if isinstance(extra, dict) else {}


def holds(word: str, limit: Any, value: Any, rule: dict[str, Any]) -> bool:
    """Whether a value satisfies one keyword; keywords for other types are satisfied."""
    match word, value:
        case "type", _:
            return isinstance(value, TYPES[limit]) and isinstance(value, bool) == (limit == "boolean")
        case "enum", _:
            return value in limit
        case "oneOf", _:
            return sum(not list(faults(one, value)) for one in limit) == 1
        case "minimum" | "maximum", int() | float():
            return bool(value >= limit if word == "minimum" else value <= limit)
        case "pattern", str():
            return re.search(limit, value) is not None
        case "minLength" | "minItems", str() | list():
            return bool(len(value) >= limit)
        case "maxLength" | "maxItems" | "maxProperties", str() | list() | dict():
            return bool(len(value) <= limit)
        case "required", dict():
            return all(name in value for name in limit)
        case "additionalProperties", dict() if limit is False:
            patterns = rule.get("patternProperties", {})
            return all(name in rule["properties"] or any(re.search(p, name) for p in patterns) for name in value)
        case _:
            known = {"properties", "items", "additionalProperties", "patternProperties", "minimum", "maximum"}
            known |= {"pattern", "minLength", "minItems", "maxLength", "maxItems", "maxProperties", "required"}
            assert word in known, f"the schema uses {word}, which this judge does not know"
            return True
