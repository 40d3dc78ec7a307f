"""Instances from a CSV file: one a line, numbers only, at most one header line, as many columns everywhere."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ENCODING = "utf-8-sig"
"""UTF-8, also with the mark that spreadsheets put in front of it."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """What is wrong with a line, and what to do."""

    line: int
    what: str
    remedy: str


def csv_rows(lines: Iterable[str]) -> Iterator[list[float]]:
    """The numbers of each line; blank lines are left out, and so is a first line without any number.

    Raises `ValueError(message, remedy)` that names the line.
    """
    for _, row in looked_at(lines):
        if isinstance(row, BadRow):
            raise ValueError(f"has on line {row.line} {row.what}", row.remedy)  # noqa: TRY004 - a wrong file
        yield row


def looked_at(lines: Iterable[str]) -> Iterator[tuple[int, list[float] | BadRow]]:
    """The same with the number of each line, and what is wrong with a line instead of its numbers."""
    reader = csv.reader(lines)
    width = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, BadRow(reader.line_num, f"no CSV ({error})", "write one instance of numbers a line")
            return
        if not any(cell.strip() for cell in cells):
            continue
        if not width and not any(_is_number(cell) for cell in cells):
            width = len(cells)  # the header
            continue
        width = width or len(cells)
        yield reader.line_num, _row(reader.line_num, cells, width)


def _row(line: int, cells: list[str], width: int) -> list[float] | BadRow:
    if len(cells) != width:
        return BadRow(line, f"{len(cells)} columns, and {width} before", "give every line the same columns")
    wrong = next((cell for cell in cells if not _is_number(cell)), None)
    if wrong is not None:
        return BadRow(line, f"{wrong[:40]!r}, which is no number", "keep to numbers, or use a jsonl file")
    return [float(cell) for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.isascii()  # what Python reads and nobody else does
