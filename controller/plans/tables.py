"""How lists and mappings of a plan are read: every key known, every entry looked at, all problems noted at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from controller.plans.problems import Findings
from controller.plans.readers import WRONG, Choice, Json, Reader, Text, describe, similar
from controller.plans.yaml_source import Entry, Listing, Node, Scalar, Table, Unusable


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one kind. A single value instead of a list is refused: YAML would hide the slip."""

    each: Reader
    least: int = 0
    most: int = 100

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """A tuple of the values, `WRONG` among them where a problem was noted."""
        if not isinstance(node, Listing):
            if not isinstance(node, Unusable):
                remedy = f"write [{node.text}]" if isinstance(node, Scalar) and node.text else "write a list"
                findings.add(node.line, key, f"{describe(node)} where a list is wanted", remedy)
            return WRONG
        if not self.least <= len(node.items) <= self.most:
            found = f"has {len(node.items)} entries, and {self.least} to {self.most} are allowed"
            findings.add(node.line, key, found, "add some" if len(node.items) < self.least else "remove some")
            return WRONG
        return tuple(self.each.read(item, f"{key}[{index}]", findings) for index, item in enumerate(node.items))

    def schema(self) -> Json:
        """An array with its limits."""
        return {"type": "array", "items": self.each.schema(), "minItems": self.least, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping from text to text, such as headers. `check(name, value)` raises `ValueError(message, remedy)`."""

    check: Callable[[str, str], None]
    most: int = 50

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """A tuple of pairs in the order of the file."""
        if not isinstance(node, Table):
            return _not_a_table(node, key, findings)
        if len(node.entries) > self.most:
            findings.add(node.line, key, f"has {len(node.entries)} entries, and {self.most} are allowed", "remove some")
        pairs: dict[str, tuple[str, str]] = {}
        for entry in node.entries:
            path = f"{key}.{entry.key}"
            value = Text(longest=4096).read(entry.value, path, findings)
            if value is WRONG:
                continue
            try:
                self.check(entry.key, value)
            except ValueError as error:
                findings.add(entry.line, path, *error.args)
            twin = pairs.setdefault(entry.key.lower(), (entry.key, value))
            if twin[0] != entry.key:
                findings.add(entry.line, path, f"is the same name as {twin[0]}", "keep one of the two")
        return tuple(pairs.values())

    def schema(self) -> Json:
        """An object of strings."""
        return {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": self.most}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a mapping: how its value is read, whether it must be there, what it means."""

    reader: Reader
    doc: str
    required: bool = False


@dataclass(slots=True)
class Fields:
    """What was read of one mapping: values by key, and where each stood. `built` is what was made of them."""

    key: str
    line: int
    findings: Findings
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    item_lines: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of the entries of lists
    built: Any = WRONG

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a key, or the default where it is missing or wrong."""
        value = self.values.get(name, default)
        return default if value is WRONG else value

    def refuse(self, name: str, message: str, remedy: str) -> None:
        """Note a problem with a key; where it is missing, with the mapping."""
        path = f"{self.key}.{name}" if self.key else name
        self.findings.add(self.lines.get(name, self.line), path, message, remedy)

    def refuse_item(self, name: str, index: int, message: str, remedy: str) -> None:
        """Note a problem with one entry of a list."""
        path = f"{self.key}.{name}[{index}]" if self.key else f"{name}[{index}]"
        self.findings.add(self.item_lines[name][index], path, message, remedy)


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys. `check` notes what does not fit together; `build` runs only if nothing is wrong.

    `refused` maps keys that look right and are not to what is wrong and what to do. Keys that start with `x-` are not
    read where `notes` allows them: they hold anchors.
    """

    keys: Mapping[str, Key]
    build: Callable[[Fields], Any]
    check: Callable[[Fields], None] | None = None
    refused: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    notes: bool = False

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """The `Fields`, with `built` set if nothing is wrong."""
        if not isinstance(node, Table):
            return _not_a_table(node, key, findings)
        before = len(findings.problems)
        fields = Fields(key, node.line, findings)
        for entry in node.entries:
            self._read_entry(entry, fields)
        for name, known in self.keys.items():
            if known.required and name not in fields.lines:
                fields.refuse(name, "is missing", f"add it ({known.doc.rstrip('.')})")
        if self.check is not None:
            self.check(fields)
        if len(findings.problems) == before:
            fields.built = self.build(fields)
        return fields

    def _read_entry(self, entry: Entry, fields: Fields) -> None:
        path = f"{fields.key}.{entry.key}" if fields.key else entry.key
        if entry.key in self.keys:
            fields.lines[entry.key] = entry.line
            if isinstance(entry.value, Listing):
                fields.item_lines[entry.key] = tuple(item.line for item in entry.value.items)
            fields.values[entry.key] = self.keys[entry.key].reader.read(entry.value, path, fields.findings)
        elif entry.key in self.refused:
            fields.findings.add(entry.line, path, *self.refused[entry.key])
        elif not (self.notes and entry.key.startswith("x-")):
            fields.findings.add(entry.line, path, "is not a key here", similar(entry.key, list(self.keys)))

    def schema(self) -> Json:
        """A closed object."""
        properties = {name: {"description": key.doc} | key.reader.schema() for name, key in self.keys.items()}
        required = [name for name, key in self.keys.items() if key.required]
        rule: Json = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return rule | ({"patternProperties": {"^x-": {}}} if self.notes else {})


@dataclass(frozen=True, slots=True)
class ByKind:
    """A mapping whose `kind` says which keys it has."""

    kinds: Mapping[str, Record]
    later: tuple[str, ...] = ()

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """What the record of that kind reads."""
        if not isinstance(node, Table):
            return _not_a_table(node, key, findings)
        entry = next((entry for entry in node.entries if entry.key == "kind"), None)
        words = list(self.kinds)
        if entry is None:
            findings.add(node.line, f"{key}.kind", "is missing", f"add one of {', '.join(words)}")
            return WRONG
        kind = Choice(tuple(words), self.later).read(entry.value, f"{key}.kind", findings)
        return WRONG if kind is WRONG else self.kinds[kind].read(node, key, findings)

    def schema(self) -> Json:
        """One object a kind."""
        return {"oneOf": [record.schema() for record in self.kinds.values()]}


def _not_a_table(node: Node, key: str, findings: Findings) -> Any:
    if not isinstance(node, Unusable):
        findings.add(node.line, key, f"{describe(node)} where a mapping is wanted", "write key: value pairs")
    return WRONG
