"""Pools of instances from the lines of a file: only the places of lines are kept, a line is read when it is picked."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.plans.json_lines import BadLine, json_value, raw_lines
from controller.plans.recorded import Recorded, as_request, request_problem

LOOKED_AT = 10_000
"""Lines of a file that are looked at for different structures of instance."""


class PayloadError(ValueError):
    """The payload source cannot be used; the message names the file, the place and the remedy."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Instances as JSON values, one from each line of a file that is not blank."""

    path: Path
    starts: array[int]  # the place of each instance in the file

    def pick(self, indices: Sequence[int]) -> list[Any]:
        """Read and parsed only now. Raises `PayloadError` with the number of a line that is not JSON."""
        with self.path.open("rb") as file:
            return [self._value(file, self.starts[index]) for index in indices]

    def structures(self) -> list[int]:
        """Names, nesting and types of fields, of the first ten thousand."""
        first: dict[str, int] = {}
        for index, value in enumerate(self.pick(range(min(len(self), LOOKED_AT)))):
            first.setdefault(_structure(value), index)
        return list(first.values())

    def __len__(self) -> int:
        """Lines that are not blank."""
        return len(self.starts)

    def _value(self, file: Any, start: int) -> Any:
        file.seek(start)
        value = json_value(file.readline())
        if isinstance(value, BadLine):
            raise PayloadError(f"{self.path}:{self.number(start)}: {value.what}; {value.remedy}")
        return value

    def number(self, start: int) -> int:
        """Of the line at this place, from 1."""
        with self.path.open("rb") as file:
            return sum(file.read(piece).count(b"\n") for piece in _pieces(start)) + 1


@dataclass(frozen=True, slots=True)
class Requests:
    """Recorded requests, one from each line that is not blank; only the places of the lines are kept."""

    lines: Lines

    def pick(self, indices: Sequence[int]) -> list[Any]:
        """As `Recorded`, times counting from the file's first. Raises `PayloadError` with the number of a bad line."""
        if not len(self.lines):
            return []
        (first,) = self.lines.pick([0])
        at = first.get("at") if request_problem(first) is None else None
        return [self._request(index, value, at) for index, value in zip(indices, self.lines.pick(indices), strict=True)]

    def structures(self) -> list[int]:
        """Each is a whole request."""
        return [0]

    def __len__(self) -> int:
        """Lines that are not blank."""
        return len(self.lines)

    def _request(self, index: int, value: Any, first: float | None) -> Recorded:
        if (problem := request_problem(value)) is not None:
            number = self.lines.number(self.lines.starts[index])
            raise PayloadError(f"{self.lines.path}:{number}: holds {problem}")
        return as_request(value, first)


def lines_in(path: Path) -> Lines:
    """Every line that is not blank. Raises `PayloadError`."""
    starts = array("Q")
    try:
        with path.open("rb") as file:
            for number, place, line in raw_lines(file):
                if isinstance(line, BadLine):
                    raise PayloadError(f"{path}:{number}: {line.what}; {line.remedy}")
                starts.append(place)
    except OSError as error:
        raise PayloadError(f"could not read payloads from {path}: {error}") from error
    return Lines(path, starts)


def _pieces(size: int) -> Iterator[int]:
    """Sizes that sum up to `size`, none of them large."""
    while size > 0:
        yield min(size, 1 << 20)
        size -= 1 << 20


def _structure(value: Any) -> str:
    match value:
        case dict():
            return "{" + ",".join(f"{name}:{_structure(value[name])}" for name in sorted(value)) + "}"
        case list():
            return f"[{len(value)}x{_structure(value[0])}]" if value else "[]"
        case bool() | None:
            return str(type(value).__name__)
        case int() | float():
            return "number"
        case _:
            return "text"
