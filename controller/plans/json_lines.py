"""JSON Lines as they are read everywhere: strict UTF-8, one value a line, no blank lines, no line beyond a limit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of a line: a whole line has to be in memory, and a file without line breaks would take all of it."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that holds no value: what is wrong, and what to do."""

    what: str
    remedy: str


def raw_lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes | BadLine]]:
    """Number from 1, place in the file and bytes of each line that is not blank; one that is too long is the last."""
    place, number = 0, 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            yield number, place, BadLine(f"more than {LONGEST_LINE:,} bytes on one line", "write one value a line")
            return
        if line.strip():
            yield number, place, line
        place += len(line)


def json_value(line: bytes) -> Any:
    """The value of a line, NaN and Infinity included, or `BadLine`."""
    try:
        return json.loads(line.removeprefix(_BOM).decode())
    except UnicodeDecodeError as error:
        return BadLine(f"not UTF-8 text (byte {error.start + 1})", "save the file as UTF-8")
    except json.JSONDecodeError as error:
        return BadLine(f"not a JSON value: {error.msg} (column {error.pos + 1})", "write one JSON value a line")
    except (ValueError, RecursionError) as error:
        return BadLine(f"not a JSON value: {error}", "write one JSON value a line")


def json_lines(path: Path) -> Iterator[tuple[int, int, Any]]:
    """Number, place and value (or `BadLine`) of each line of a file. Raises `OSError`."""
    with path.open("rb") as file:
        for number, place, line in raw_lines(file):
            yield number, place, line if isinstance(line, BadLine) else json_value(line)
