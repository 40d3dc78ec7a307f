"""How one value of a plan is read: strictly, and with a remedy for every slip; here what readers share, text, choice.

Each reader also states itself as JSON Schema, so that schema and loader cannot disagree about names and limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Protocol

from controller.plans.problems import Findings
from controller.plans.yaml_scalar import is_nothing, misreading
from controller.plans.yaml_source import Listing, Node, Scalar, Unusable

WRONG: Final = object()
"""What a reader returns when it has noted a problem instead of a value."""

Json = dict[str, Any]


class Reader(Protocol):
    """Reads one kind of value."""

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """The value, or `WRONG` with the problem noted."""
        ...

    def schema(self) -> Json:
        """The same rule as JSON Schema."""
        ...


def describe(node: Node) -> str:
    """What was found instead of what is wanted."""
    match node:
        case Scalar(text, _, True) if is_nothing(text):
            return "has no value"
        case Scalar():
            return f"is the single value {node.text!r}"
        case Listing():
            return "is a list"
        case _:
            return "is a mapping"


def similar(word: str, known: list[str]) -> str:
    """A remedy for a word that is not among the known: the nearest, or all of them."""
    near = get_close_matches(word.lower(), known, n=1, cutoff=0.7)
    return f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"


def single(node: Node, key: str, wanted: str, findings: Findings) -> Scalar | None:
    """The node if it is one value, else None with the problem noted."""
    if isinstance(node, Scalar) and not (node.plain and is_nothing(node.text)):
        return node
    if not isinstance(node, Unusable):
        findings.add(node.line, key, describe(node), f"write {wanted}")
    return None


@dataclass(frozen=True, slots=True)
class Text:
    """Text that no YAML reader can take for anything else.

    `parse` makes the value of it; what is not sane raises `ValueError(message)` or `ValueError(message, remedy)`.
    """

    wanted: str = "a text"
    longest: int = 200
    pattern: str | None = None
    parse: Callable[[str], Any] = str

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """What `parse` makes of the text."""
        scalar = single(node, key, self.wanted, findings)
        if scalar is None:
            return WRONG
        text = scalar.text
        seen = misreading(text) if scalar.plain else None
        if seen is not None:
            findings.add(node.line, key, f"{text} without quotes is {seen}", f'write "{text}"')
            return WRONG
        try:
            self._check(text)
            return self.parse(text)
        except ValueError as error:
            message, remedy = error.args if len(error.args) == 2 else (str(error), f"write {self.wanted}")
            findings.add(node.line, key, message, remedy)
            return WRONG

    def _check(self, text: str) -> None:
        if not text.strip():
            raise ValueError("is empty")
        if text != text.strip():
            raise ValueError("starts or ends with a space", "remove it")
        if len(text) > self.longest:
            raise ValueError(f"has {len(text)} characters, and {self.longest} are allowed", "shorten it")
        if not text.isprintable():
            raise ValueError("holds a line break or a control character", "keep to one line of printable text")
        if self.pattern is not None and not re.fullmatch(self.pattern, text):
            raise ValueError(f"{text} is not {self.wanted}")

    def schema(self) -> Json:
        """A string with its limits."""
        rule: Json = {"type": "string", "minLength": 1, "maxLength": self.longest}
        return rule | ({"pattern": f"^(?:{self.pattern})$"} if self.pattern else {})


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words. `later` are words with a meaning that does not work yet."""

    words: tuple[str, ...]
    later: tuple[str, ...] = field(default=())

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """The word."""
        wanted = f"one of {', '.join(self.words)}" if len(self.words) > 1 else self.words[0]
        scalar = single(node, key, wanted, findings)
        if scalar is None:
            return WRONG
        if scalar.text in self.words:
            return scalar.text
        if scalar.text in self.later:
            findings.add(node.line, key, f"{scalar.text} is not supported yet", f"write {wanted}")
        else:
            findings.add(node.line, key, f"{scalar.text} is not known here", similar(scalar.text, list(self.words)))
        return WRONG

    def schema(self) -> Json:
        """The words."""
        return {"enum": list(self.words)}
