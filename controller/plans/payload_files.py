"""Whether a payload file is there, of its kind, and long enough; what its lines hold is looked at elsewhere."""

from __future__ import annotations

import itertools
import stat
from pathlib import Path

from controller.plans.csv_rows import ENCODING, looked_at
from controller.plans.json_lines import raw_lines
from controller.plans.npy_file import open_npy


def check_npy(path: Path, rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file holds at least `rows` instances of numbers or texts."""
    check_file(path)
    try:
        array = open_npy(path)
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror or error})", "check the file system") from error
    _check_rows(len(array), rows)


def check_jsonl(path: Path, rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file has so many lines that are not blank."""
    check_file(path)
    with path.open("rb") as file:
        _check_whole(file.peek(4)[:4])
        found = list(itertools.islice(raw_lines(file), rows))
    if not found:
        raise ValueError("has no instance", "write one JSON value a line")
    _check_rows(len(found), rows)


def check_csv(path: Path, rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file has so many lines beside a header."""
    check_file(path)
    with path.open("rb") as raw:
        _check_whole(raw.read(4))
    try:
        with path.open(encoding=ENCODING, newline="") as file:
            found = list(itertools.islice(looked_at(file), rows))
    except UnicodeDecodeError:
        return  # which whoever looks at its lines says, with the others
    if not found:
        raise ValueError("has no instance", "write one instance of numbers a line")
    _check_rows(len(found), rows)


def check_requests(path: Path, _rows: int) -> None:
    """Raise `ValueError(message, remedy)` unless the file has a line that is not blank."""
    check_jsonl(path, 1)


def _check_whole(first: bytes) -> None:
    if first.startswith(b"\x1f\x8b"):
        raise ValueError("is compressed with gzip", "unpack it with gunzip")


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
