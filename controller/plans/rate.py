"""How a rate of arrivals is written, `1200/s`, and how it is read and shown: at most three digits after the point."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from controller.plans.problems import Findings
from controller.plans.readers import WRONG, Json, single
from controller.plans.yaml_source import Node

PATTERN = r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,3})?/s"
FORM = "a rate such as 1200/s or 0.5/s"


def parse_rate(text: str) -> float:
    """Arrivals a second. Raises `ValueError` for anything but digits and `/s`."""
    if not re.fullmatch(PATTERN, text):
        raise ValueError(f"{text} is not {FORM}")
    return float(text.removesuffix("/s"))


def format_rate(rate: float) -> str:
    """As people read it: `1,200/s`, `0.5/s`."""
    return f"{rate:,.3f}".rstrip("0").rstrip(".") + "/s"


@dataclass(frozen=True, slots=True)
class Rate:
    """Arrivals a second within limits (inclusive)."""

    least: float
    most: float

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """A float."""
        scalar = single(node, key, FORM, findings)
        if scalar is None:
            return WRONG
        remedy = f"write {scalar.text}/s if arrivals a second are meant" if _number(scalar.text) else f"write {FORM}"
        try:
            value = parse_rate(scalar.text)
        except ValueError as error:
            findings.add(node.line, key, str(error), remedy)
            return WRONG
        if not self.least <= value <= self.most:
            limits = f"{format_rate(self.least)} to {format_rate(self.most)}"
            findings.add(node.line, key, f"{scalar.text} is outside {limits}", "choose a rate inside")
            return WRONG
        return value

    def schema(self) -> Json:
        """A string in the form of a rate; its limits are in the description."""
        limits = f"{format_rate(self.least)} to {format_rate(self.most)}"
        return {"type": "string", "pattern": f"^{PATTERN}$", "description": f"Arrivals a second, {limits}."}


def _number(text: str) -> bool:
    return re.fullmatch(PATTERN, f"{text}/s") is not None
