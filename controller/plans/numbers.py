"""How numbers and lengths of time in a plan are read: digits and units only, never what YAML guesses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from controller.plans import duration
from controller.plans.duration import format_duration, parse_duration
from controller.plans.problems import Findings
from controller.plans.readers import WRONG, Json, single
from controller.plans.yaml_scalar import misreading
from controller.plans.yaml_source import Listing, Node


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number in decimal digits, within limits (inclusive)."""

    least: int
    most: int

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """The number."""
        scalar = single(node, key, "a whole number", findings)
        if scalar is None:
            return WRONG
        text = scalar.text
        if not scalar.plain:
            findings.add(node.line, key, f'"{text}" is text, and a whole number is wanted', "remove the quotes")
        elif not re.fullmatch(r"-?(?:0|[1-9][0-9]{0,50})", text):
            findings.add(node.line, key, *_not_whole(text))
        elif not self.least <= int(text) <= self.most:
            findings.add(node.line, key, f"{text} is outside {self.least} to {self.most}", "choose a number inside")
        else:
            return int(text)
        return WRONG

    def schema(self) -> Json:
        """An integer with its limits."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


def _not_whole(text: str) -> tuple[str, str]:
    seen = misreading(text)
    if seen is None:
        return f"{text} is text, and a whole number is wanted", "write digits only"
    return f"{text} is {seen}, and a whole number is wanted", f"write {_plain_digits(text)}"


def _plain_digits(text: str) -> str:
    try:
        number = Decimal(text.replace("_", ""))
    except InvalidOperation:
        return "digits only"
    if not number.is_finite() or abs(number) > 10**12 or number != int(number):
        return "digits only"
    octal = re.fullmatch(r"0[0-7]+", text)
    return f"{int(text, 8)} or {int(number)}" if octal else str(int(number))


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time within limits (inclusive)."""

    least: timedelta
    most: timedelta

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """A timedelta."""
        scalar = single(node, key, "a duration such as 90s or 1h30m", findings)
        if scalar is None:
            return WRONG
        remedy = f"write {scalar.text}s if seconds are meant" if scalar.text.isdecimal() else f"write {duration.FORM}"
        seen = misreading(scalar.text) if scalar.plain else None
        if seen is not None and not scalar.text.isdecimal():
            findings.add(node.line, key, f"{scalar.text} is {seen}, and a duration is wanted", remedy)
            return WRONG
        try:
            value = parse_duration(scalar.text)
        except ValueError as error:
            findings.add(node.line, key, str(error), remedy)
            return WRONG
        if not self.least <= value <= self.most:
            limits = f"{format_duration(self.least)} to {format_duration(self.most)}"
            findings.add(node.line, key, f"{scalar.text} is outside {limits}", "choose a duration inside")
            return WRONG
        return value

    def schema(self) -> Json:
        """A string in the form of a duration; its limits are in the description."""
        limits = f"{format_duration(self.least)} to {format_duration(self.most)}"
        return {"type": "string", "pattern": duration.PATTERN, "description": f"A duration, {limits}."}


@dataclass(frozen=True, slots=True)
class DurationOrPair:
    """One duration, or a list of the least and the most."""

    each: Duration

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """A pair of timedeltas."""
        if not isinstance(node, Listing):
            one = self.each.read(node, key, findings)
            return WRONG if one is WRONG else (one, one)
        pair = [self.each.read(item, f"{key}[{index}]", findings) for index, item in enumerate(node.items)]
        if WRONG in pair:
            return WRONG
        if len(pair) != 2 or pair[0] > pair[1]:
            found = "is not a pair" if len(pair) != 2 else "has its least above its most"
            findings.add(node.line, key, found, "write one duration or [least, most]")
            return WRONG
        return tuple(pair)

    def schema(self) -> Json:
        """Either form."""
        one = self.each.schema()
        return {"oneOf": [one, {"type": "array", "items": one, "minItems": 2, "maxItems": 2}]}
