"""Instances from a CSV file: one a line, numbers only, at most one header line, as many columns everywhere."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator


def csv_rows(lines: Iterable[str]) -> Iterator[list[float]]:
    """The numbers of each line; blank lines are left out, and so is a first line without any number.

    Raises `ValueError(message, remedy)` that names the line.
    """
    reader = csv.reader(lines)
    width = 0
    for cells in _cells(reader):
        if not any(cell.strip() for cell in cells):
            continue
        if not width and not any(_is_number(cell) for cell in cells):
            width = len(cells)  # the header
            continue
        width = width or len(cells)
        if len(cells) != width:
            found = f"has {len(cells)} columns on line {reader.line_num}, and {width} before"
            raise ValueError(found, "give every line the same columns")
        try:
            yield [float(cell) for cell in cells]
        except ValueError:
            wrong = next(cell for cell in cells if not _is_number(cell))
            found = f"has {wrong[:40]!r} on line {reader.line_num}, which is no number"
            raise ValueError(found, "keep to numbers, or use a jsonl file") from None


def _cells(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise ValueError(f"is not CSV ({error})", "write one instance of numbers a line") from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
