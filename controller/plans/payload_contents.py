"""Is a payload file good beyond its first line? Every line that is not, with its number; a large file is read up to a
limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

from controller.plans.csv_rows import ENCODING, BadRow, looked_at
from controller.plans.json_lines import BadLine, json_value, raw_lines
from controller.plans.npy_file import open_npy
from controller.plans.recorded import request_problem

MOST_BYTES = 32 * 1024 * 1024
"""Of a file that are looked at when a plan is read: less than a second's work."""

MOST_PROBLEMS = 5
"""That are told of one file."""

_CHUNK_BYTES = 8 * 1024 * 1024
_CLEAN = "clean the data"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a workload asks of instances: `served` by TensorFlow Serving, so many `rows` a request, `nan` allowed."""

    served: bool
    rows: int = 1
    nan: bool = False


@dataclass(frozen=True, slots=True)
class BadPlace:
    """`where` is `line 7` or `row 7`."""

    where: str
    what: str
    remedy: str


def problems_in(source: str, path: Path, wanted: Wanted, most: int | None = MOST_BYTES) -> list[BadPlace]:
    """The first problems of a file of this source, in its first `most` bytes. Raises `OSError`."""
    return list(islice(_LOOKS[source](path, wanted, most), MOST_PROBLEMS))


def _jsonl(path: Path, wanted: Wanted, most: int | None) -> Iterator[BadPlace]:
    first: tuple[int, Any] | None = None
    with path.open("rb") as file:
        for number, value in _values(file, most):
            shape = _shape(value) if wanted.served and not isinstance(value, BadLine) else None
            if isinstance(value, BadLine):
                yield BadPlace(f"line {number}", value.what, value.remedy)
            elif isinstance(shape, _Ragged):
                yield BadPlace(f"line {number}", shape.what, "give all lists of a level the same length")
            elif not wanted.nan and _not_finite(value):
                remedy = f"{_CLEAN}, or set allow_nan: true" if wanted.served else _CLEAN
                yield BadPlace(f"line {number}", "NaN or Infinity, which is no JSON", remedy)
            elif wanted.served and wanted.rows > 1:
                first = first or (number, shape)
                if shape != first[1]:
                    what = f"an instance unlike that of line {first[0]}, and requests carry {wanted.rows} together"
                    yield BadPlace(f"line {number}", what, "give all instances one shape, or set rows to 1")


def _requests(path: Path, _wanted: Wanted, most: int | None) -> Iterator[BadPlace]:
    with path.open("rb") as file:
        for number, value in _values(file, most):
            if isinstance(value, BadLine):
                yield BadPlace(f"line {number}", value.what, value.remedy)
            elif (found := request_problem(value)) is not None:
                yield BadPlace(f"line {number}", found, "write {at, method, path, headers, body}")


def _values(file: BinaryIO, most: int | None) -> Iterator[tuple[int, Any]]:
    for number, place, line in raw_lines(file):
        if most is not None and place > most:
            return
        yield number, line if isinstance(line, BadLine) else json_value(line)


def _csv(path: Path, wanted: Wanted, most: int | None) -> Iterator[BadPlace]:
    left = most
    with path.open(encoding=ENCODING, newline="") as file:
        try:
            for number, row in looked_at(file):
                if isinstance(row, BadRow):
                    yield BadPlace(f"line {number}", row.what, row.remedy)
                    continue
                if not wanted.nan and not all(map(isfinite, row)):
                    yield BadPlace(f"line {number}", "NaN or Infinity", _CLEAN)
                left = None if left is None else left - 8 * len(row)
                if left is not None and left < 0:
                    return
        except UnicodeDecodeError as error:
            yield BadPlace("the file", f"bytes that are not UTF-8 text ({error.reason})", "save it as UTF-8")


def _npy(path: Path, wanted: Wanted, most: int | None) -> Iterator[BadPlace]:
    import numpy as np  # only where there is such a file

    array = open_npy(path)
    if wanted.nan or array.dtype.kind != "f":
        return
    row_bytes = max(array[:1].nbytes, 1)
    rows = len(array) if most is None else min(len(array), max(most // row_bytes, 1))
    step = max(_CHUNK_BYTES // row_bytes, 1)
    for start in range(0, rows, step):
        chunk = np.asarray(array[start : min(start + step, rows)]).reshape(min(step, rows - start), -1)
        for row in np.nonzero(~np.isfinite(chunk).all(axis=1))[0]:
            yield BadPlace(f"row {start + int(row) + 1}", "NaN or Infinity", _CLEAN)


_LOOKS: Mapping[str, Callable[[Path, Wanted, int | None], Iterator[BadPlace]]] = {
    "npy": _npy,
    "jsonl": _jsonl,
    "csv": _csv,
    "requests": _requests,
}


@dataclass(frozen=True, slots=True)
class _Ragged:
    what: str


def _shape(value: Any) -> Any:
    """Lengths of the lists of each level, of each field of an object; or where they differ."""
    if isinstance(value, dict):
        shapes = {name: _shape(one) for name, one in value.items()}
        return next((one for one in shapes.values() if isinstance(one, _Ragged)), shapes)
    if not isinstance(value, list):
        return ()
    inner = [_shape(one) for one in value] if any(isinstance(one, list | dict) for one in value) else []
    for index, one in enumerate(inner):
        if isinstance(one, _Ragged):
            return one
        if one != inner[0]:
            return _Ragged(f"a ragged list: entry {index + 1} is not like entry 1")
    return (len(value), *(inner[0] if inner and isinstance(inner[0], tuple) else ()))


def _not_finite(value: Any) -> bool:
    if isinstance(value, float):
        return not isfinite(value)
    if isinstance(value, list):
        return any(_not_finite(one) for one in value)
    return isinstance(value, dict) and any(_not_finite(one) for one in value.values())
