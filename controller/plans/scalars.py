"""How flags and decimal numbers in a plan are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from controller.plans.problems import Findings
from controller.plans.readers import WRONG, Json, single
from controller.plans.yaml_source import Node

_REAL = re.compile(r"(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,15})?(?:e-?[0-9]{1,2})?")


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`, and none of the other words that some YAML reader takes for them."""

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """A bool."""
        scalar = single(node, key, "true or false", findings)
        if scalar is None:
            return WRONG
        if not scalar.plain or scalar.text not in ("true", "false"):
            findings.add(node.line, key, f"{scalar.text} is neither true nor false", "write true or false")
            return WRONG
        return scalar.text == "true"

    def schema(self) -> Json:
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Real:
    """A decimal number within limits (inclusive)."""

    least: float
    most: float

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """A float."""
        scalar = single(node, key, "a number", findings)
        if scalar is None:
            return WRONG
        if not scalar.plain or not _REAL.fullmatch(scalar.text):
            findings.add(node.line, key, f"{scalar.text} is not a number", "write one such as 0.001 or 1e-6")
        elif not self.least <= float(scalar.text) <= self.most:
            limits = f"{self.least:g} to {self.most:g}"
            findings.add(node.line, key, f"{scalar.text} is outside {limits}", "choose a number inside")
        else:
            return float(scalar.text)
        return WRONG

    def schema(self) -> Json:
        """A number with its limits."""
        return {"type": "number", "minimum": self.least, "maximum": self.most}
