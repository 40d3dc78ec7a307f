"""Whether a payload file can be used, seen from its first bytes: nothing large is read."""

from __future__ import annotations

import itertools
import json
import stat
from pathlib import Path

from controller.plans.csv_rows import csv_rows
from controller.plans.recorded import request_problem

_LONGEST_LINE = 4 * 1024 * 1024


def check_npy(path: Path, rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file holds at least `rows` numeric instances."""
    check_file(path)
    import numpy as np  # takes longer than loading a whole plan, and only plans with such a file need it

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"is not a whole .npy file ({_first(error)})", "write it with numpy.save") from error
    if not isinstance(array, np.ndarray):
        raise ValueError("is an archive of arrays", "save one array with numpy.save")  # noqa: TRY004 a wrong file
    if array.dtype.kind not in "fiub":
        raise ValueError(f"holds {array.dtype}, not numbers", "save an array of floats, integers or booleans")
    if array.ndim == 0 or array.shape[0] == 0 or array.size == 0:
        raise ValueError(f"has the shape {array.shape}: no instance", "save at least one row")
    _check_rows(array.shape[0], rows)


def check_jsonl(path: Path, rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file's first line is strict JSON."""
    check_file(path)
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE + 1)
        others = sum(1 for _ in range(rows - 1) if file.readline(_LONGEST_LINE).strip())
    if len(first) > _LONGEST_LINE:
        raise ValueError(f"has more than {_LONGEST_LINE} bytes on its first line", "write one instance a line")
    if not first.strip():
        raise ValueError("has no instance on its first line", "write one JSON value a line, from line 1")
    try:
        json.loads(first.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"has no JSON on its first line ({_first(error)})", "write strict JSON") from error
    _check_rows(1 + others, rows)


def check_csv(path: Path, rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file's first lines are numbers, after at most one header."""
    check_file(path)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            first = list(itertools.islice(csv_rows(file), rows))
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8 text", "save it as UTF-8") from error
    if not first:
        raise ValueError("has no instance", "write one instance of numbers a line")
    _check_rows(len(first), rows)


def check_requests(path: Path, rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file's first line is a recorded request."""
    check_jsonl(path, rows)
    with path.open("rb") as file:
        problem = request_problem(json.loads(file.readline().decode()))
    if problem is not None:
        raise ValueError(f"has on its first line {problem}", "write {at, method, path, headers, body}")


def _check_rows(found: int, wanted: int) -> None:
    if found < wanted:
        raise ValueError(f"holds {found} instances, and a request takes {wanted}", "lower rows or add instances")


def check_file(path: Path) -> None:
    """Raise `ValueError(message, remedy)` unless it is an ordinary file that can be read."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            path.open("rb").close()
    except FileNotFoundError as error:
        raise ValueError("does not exist", "check the path; it is relative to the plan") from error
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror})", "check its permissions") from error
    if not stat.S_ISREG(mode):
        raise ValueError("is not an ordinary file", "name a file")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _first(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
