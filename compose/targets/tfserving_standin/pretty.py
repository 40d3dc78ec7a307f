"""Writes JSON token by token the way the real server's pretty printer does, arrays on one line where it says so."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from struct import Struct
from typing import Any

INDENT = "    "
DEBUG_LIMIT = 256
SINGLE = Struct("f")


def float_text(value: float) -> str:
    """A float32 as text: six digits if they are enough to find it again, else nine; always with a point or exponent."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    text = f"{value:.6g}"
    if SINGLE.unpack(SINGLE.pack(float(text)))[0] != value:
        text = f"{value:.9g}"
    return text if "." in text or "e" in text else text + ".0"


def string_text(value: str) -> str:
    """A quoted string; what is not ASCII stays as it is."""
    return json.dumps(value, ensure_ascii=False)


@dataclass(slots=True)
class _Level:
    array: bool
    values: int = 0


class PrettyWriter:
    """Collects tokens. While `one_line` is set, elements and ends of arrays do not start a new line."""

    def __init__(self) -> None:
        """Nothing written."""
        self.one_line = False
        self._parts: list[str] = []
        self._levels: list[_Level] = []

    def text(self) -> str:
        """All that was written."""
        return "".join(self._parts)

    def begin_array(self) -> None:
        """Open an array."""
        self._begin("[", _Level(array=True))

    def end_array(self) -> None:
        """Close it."""
        filled = self._levels.pop().values > 0
        self._parts.append(self._line_break() + "]" if filled and not self.one_line else "]")

    def begin_object(self) -> None:
        """Open an object."""
        self._begin("{", _Level(array=False))

    def end_object(self) -> None:
        """Close it."""
        filled = self._levels.pop().values > 0
        self._parts.append(self._line_break() + "}" if filled else "}")

    def key(self, name: str) -> None:
        """The name of an object's next member."""
        self.raw(string_text(name))

    def raw(self, text: str) -> None:
        """A value that is JSON already."""
        self._separate()
        self._parts.append(text)

    def value(self, value: Any) -> None:
        """Any parsed JSON value."""
        if isinstance(value, dict):
            self.begin_object()
            for name, member in value.items():
                self.key(str(name))
                self.value(member)
            self.end_object()
        elif isinstance(value, list):
            self.begin_array()
            for element in value:
                self.value(element)
            self.end_array()
        else:
            self.raw(json.dumps(value, ensure_ascii=False))

    def _begin(self, bracket: str, level: _Level) -> None:
        self._separate()
        self._parts.append(bracket)
        self._levels.append(level)

    def _separate(self) -> None:
        if not self._levels:
            return
        level = self._levels[-1]
        if level.array:
            comma = "," if level.values else ""
            if self.one_line:
                self._parts.append(comma + " " if comma else "")
            else:
                self._parts.append(comma + self._line_break())
        elif level.values % 2:
            self._parts.append(": ")
        else:
            self._parts.append(("," if level.values else "") + self._line_break())
        level.values += 1

    def _line_break(self) -> str:
        return "\n" + INDENT * len(self._levels)


def debug_text(value: Any) -> str:
    """A JSON value inside an error message: pretty, arrays on one line, cut when it gets long."""
    writer = PrettyWriter()
    writer.one_line = True
    writer.value(_shortened(value))
    return writer.text()[:DEBUG_LIMIT]


def _shortened(value: Any) -> Any:
    """The same value without most of what the cut would remove anyway."""
    if isinstance(value, list):
        return [_shortened(element) for element in value[:DEBUG_LIMIT]]
    return value
