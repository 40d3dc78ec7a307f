"""The text of a plan file, or the one sentence that says why there is none."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NoReturn

from controller.plans.problems import PlanError, Problem

MAX_BYTES = 128 * 1024


def read_text(path: Path) -> str:
    """The file's text, a byte order mark removed. Raises `PlanError` with one problem."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            _refuse(path, "is a folder, not a plan", "name a file in it")
        if not stat.S_ISREG(status.st_mode):
            _refuse(path, "is not an ordinary file", "name a plan file")
        if status.st_size > MAX_BYTES:
            _refuse(path, f"has {status.st_size} bytes, and a plan may have {MAX_BYTES}", "keep data in payload files")
        content = path.read_bytes()
    except FileNotFoundError:
        _refuse(path, "does not exist", "check the path")
    except OSError as error:
        _refuse(path, f"cannot be read ({error.strerror or error})", "check the path and its permissions")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        _refuse(path, f"byte 0x{content[error.start]:02x} is not UTF-8 text", "save the file as UTF-8", line)


def _refuse(path: Path, message: str, remedy: str, line: int = 0) -> NoReturn:
    raise PlanError((Problem(str(path), line, "", message, remedy),)) from None
