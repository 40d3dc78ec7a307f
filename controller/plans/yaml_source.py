"""A YAML file as nodes that know their lines: only the plain part of YAML, duplicates and excess refused.

Values stay as their author wrote them: what a scalar means is decided by the key it belongs to, not by YAML's
guesses. Built on PyYAML's events, so that depth, size and aliases are bounded before anything is expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from controller.plans.problems import Findings
from controller.plans.yaml_syntax import explain_syntax

MAX_DEPTH = 12
MAX_NODES = 10_000  # aliases count as all that they stand for


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as written; `plain` means without quotes and not as a block of text."""

    text: str
    line: int
    plain: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """A YAML sequence."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping, with its own line."""

    key: str
    line: int
    value: Node


@dataclass(frozen=True, slots=True)
class Table:
    """A YAML mapping; its own keys first, then those merged by `<<` and not overridden."""

    entries: tuple[Entry, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Unusable:
    """Stands where a problem has already been noted; readers pass over it in silence."""

    line: int


Node = Scalar | Listing | Table | Unusable

_YAML_TAG = "tag:yaml.org,2002:"


class _StopReadingError(Exception):
    """Nothing after this point can be read; the problem has been noted."""


def parse(text: str, findings: Findings) -> Node | None:
    """The only document of a YAML text; None, with the problem noted, if there is nothing to look at."""
    try:
        return _Builder(findings, yaml.parse(text, Loader=yaml.SafeLoader)).document()
    except yaml.YAMLError as error:
        findings.add(*explain_syntax(error, text))
    except _StopReadingError:
        pass
    return None


@dataclass(slots=True)
class _Builder:
    findings: Findings
    events: Iterator[Event]
    anchors: dict[str, tuple[Node, int] | None] = field(default_factory=dict)  # None: still open
    nodes: int = 0

    def document(self) -> Node | None:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, StreamEndEvent) and root is None:
                self.findings.add(0, "", "holds no plan", "write one, or copy compose/plans/reference.yaml")
            if isinstance(event, DocumentStartEvent):
                if root is not None:
                    self.findings.add(_line(event), "", "a second document starts here", "keep one plan a file")
                    break
                root = self.node(next(self.events), "", 0)
            elif isinstance(event, DocumentEndEvent):
                continue
        return root

    def node(self, event: Event, key: str, depth: int) -> Node:
        line, before = _line(event), self.nodes
        if isinstance(event, AliasEvent):
            return self.alias(event, key)
        self.count(line, key, 1)
        if depth > MAX_DEPTH:
            self.findings.add(line, key, f"is nested more than {MAX_DEPTH} levels deep", "flatten it")
            raise _StopReadingError
        tag, anchor = getattr(event, "tag", None), getattr(event, "anchor", None)
        if tag is not None:
            self.findings.add(
                line, key, f"has the tag {tag.replace(_YAML_TAG, '!!')}, and tags have no use here", "remove it"
            )
        if anchor is not None:
            self.anchors[anchor] = None
        built = self.content(event, key, depth)
        if anchor is not None:
            self.anchors[anchor] = (built, self.nodes - before)
        return built

    def content(self, event: Event, key: str, depth: int) -> Node:
        line = _line(event)
        match event:
            case ScalarEvent():
                return Scalar(event.value, line, event.style is None)
            case SequenceStartEvent():
                items: list[Node] = []
                while not isinstance(event := next(self.events), SequenceEndEvent):
                    items.append(self.node(event, f"{key}[{len(items)}]", depth + 1))
                return Listing(tuple(items), line)
            case MappingStartEvent():
                return self.table(line, key, depth)
            case _:
                raise AssertionError(f"PyYAML sent {event!r} where a value starts")

    def table(self, line: int, key: str, depth: int) -> Table:
        own: list[Entry] = []
        merged: list[Entry] = []
        while not isinstance(event := next(self.events), MappingEndEvent):
            name = self.node(event, key, depth + 1)
            path = f"{key}.{name.text}" if isinstance(name, Scalar) and key else getattr(name, "text", key)
            value = self.node(next(self.events), path, depth + 1)
            if not isinstance(name, Scalar):
                self.findings.add(name.line, key, "a key is a list or a mapping", "use plain words as keys")
            elif name.text == "<<" and name.plain:
                merged.extend(self.merge(value, name.line, path))
            else:
                self.note_duplicate(own, name, path)
                own.append(Entry(name.text, name.line, value))
        known = {entry.key for entry in own}
        for entry in merged:
            if entry.key not in known:
                known.add(entry.key)
                own.append(entry)
        return Table(tuple(own), line)

    def merge(self, value: Node, line: int, path: str) -> Iterator[Entry]:
        for part in value.items if isinstance(value, Listing) else (value,):
            if isinstance(part, Table):
                yield from part.entries
            elif not isinstance(part, Unusable):
                self.findings.add(line, path, "merges something that is not a mapping", "name an anchored mapping")

    def note_duplicate(self, own: list[Entry], name: Scalar, path: str) -> None:
        first = next((entry.line for entry in own if entry.key == name.text), None)
        if first is not None:
            self.findings.add(name.line, path, f"stands here and on line {first} already", "keep one of the two")

    def alias(self, event: AliasEvent, key: str) -> Node:
        name, line = event.anchor, _line(event)
        if name not in self.anchors:
            self.findings.add(
                line, key, f"*{name} refers to an anchor that is not defined before it", f"define &{name}"
            )
            return Unusable(line)
        anchored = self.anchors[name]
        if anchored is None:
            self.findings.add(line, key, f"*{name} stands inside what it refers to", "write the value out")
            return Unusable(line)
        self.count(line, key, anchored[1])
        return anchored[0]

    def count(self, line: int, key: str, more: int) -> None:
        self.nodes += more
        if self.nodes > MAX_NODES:
            self.findings.add(line, key, f"the plan has more than {MAX_NODES} values, aliases counted", "shorten it")
            raise _StopReadingError


def _line(event: Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 0
