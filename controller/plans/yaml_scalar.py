"""What a YAML reader silently makes of an unquoted value: the traps of YAML 1.1 in words."""

from __future__ import annotations

import re

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

_DISPUTED = re.compile(r"[-+]?(?:0o[0-7]+|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+)")
_TAG = "tag:yaml.org,2002:"
_RESOLVER = Resolver()
_LONGEST_NUMBER = 40
_NOTHING = "nothing (null)"


def misreading(text: str) -> str | None:
    """What the unquoted text is to YAML (`the number 1350 (base 60) to YAML`); None if it is text to every reader."""
    seen = _seen(text)
    if seen is None:
        disputed = _DISPUTED.fullmatch(text) is not None
        return "a number to some YAML readers and text to others" if disputed else None
    return f"{seen} to YAML"


def is_nothing(text: str) -> bool:
    """Whether the unquoted text is YAML's null."""
    return _seen(text) == _NOTHING


def _seen(text: str) -> str | None:
    resolved = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    tag = str(resolved).removeprefix(_TAG)
    match tag:
        case "bool":
            return f"the truth value {str(SafeConstructor.bool_values[text.lower()]).lower()}"
        case "null":
            return _NOTHING
        case "timestamp":
            return "a date"
        case "int":
            return _whole(text)
        case "float":
            return _real(text)
        case "str":
            return None
        case _:
            return "a special value"


def _whole(text: str) -> str:
    digits = text.lstrip("+-")
    base = ""
    if ":" in digits:
        base = " (base 60)"
    elif digits.startswith(("0x", "0b")):
        base = " (base 16)" if digits.startswith("0x") else " (base 2)"
    elif digits.startswith("0") and len(digits) > 1:
        base = " (base 8)"
    return f"the number {_value(text, 'int')}{base}"


def _real(text: str) -> str:
    lowered = text.lstrip("+-").lower()
    if lowered in (".inf", ".nan"):
        return "infinity" if lowered == ".inf" else "the number NaN"
    return f"the number {_value(text, 'float')}" + (" (base 60)" if ":" in text else "")


def _value(text: str, kind: str) -> str:
    if len(text) > _LONGEST_NUMBER:
        return text
    node = yaml.ScalarNode(_TAG + kind, text)
    try:
        constructor = SafeConstructor()
        return str(constructor.construct_yaml_int(node) if kind == "int" else constructor.construct_yaml_float(node))
    except ValueError:
        return text
