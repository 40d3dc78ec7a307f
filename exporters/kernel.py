"""Reads the kernel's small files. Those below `/proc` and `/sys` stay open, because opening costs more than reading.

A file that went away (a cgroup that ended, a device that was pulled) is opened anew, and is missing if it is gone.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_KEPT_OPEN = ("/proc/", "/sys/")
_MOST_OPEN = 64
_CHUNK_BYTES = 1 << 16
_WHOLE_BYTES = 1 << 11
"""The kernel ends a read early where the next record does not fit into its page of four KiB: below the half of that,
it has nothing left."""

_descriptors: dict[str, int] = {}
_lately: dict[str, tuple[float, str | None]] = {}


def _forget() -> None:
    """In a forked child: `/proc/self` that the parent opened is the parent."""
    for descriptor in _descriptors.values():
        os.close(descriptor)
    _descriptors.clear()


os.register_at_fork(after_in_child=_forget)


def read(file: Path | str, *, keep: bool = True) -> str:
    """The whole text; raises OSError as `open` and `read` do. `keep` is for files that are read again and again."""
    path = str(file)
    descriptor = _descriptors.get(path)
    if descriptor is not None:
        try:
            return _all(descriptor)
        except OSError:
            os.close(_descriptors.pop(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = _all(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    if keep and path.startswith(_KEPT_OPEN) and len(_descriptors) < _MOST_OPEN:
        _descriptors[path] = descriptor
    else:
        os.close(descriptor)
    return text


def read_or_none(file: Path | str) -> str | None:
    """The whole text; None when it cannot be read."""
    try:
        return read(file)
    except OSError:
        return None


def read_lately(file: Path | str, seconds: float) -> str | None:
    """The whole text as it was at most so long ago; for files below `/proc` that are dear and change slowly."""
    path, now = str(file), time.monotonic()
    if not path.startswith(_KEPT_OPEN):
        return read_or_none(path)
    at, text = _lately.get(path, (now - seconds, None))
    if now - at >= seconds:
        text = read_or_none(path)
        if path in _lately or len(_lately) < _MOST_OPEN:
            _lately[path] = now, text
    return text


def pick(text: str, keys: tuple[str, ...], *, after: str = " ") -> dict[str, str]:
    """What stands behind each of `keys` at the beginning of a line, of a file with one key and value a line.

    `after` stands between key and value.
    """
    found = {}
    text = f"\n{text}"
    for key in keys:
        at = text.find(f"\n{key}{after}")
        if at >= 0:
            start = at + len(key) + len(after) + 1
            end = text.find("\n", start)
            found[key] = text[start : end if end >= 0 else len(text)].strip()
    return found


def _all(descriptor: int) -> str:
    part = os.pread(descriptor, _CHUNK_BYTES, 0)
    parts, at = [part], len(part)
    while len(part) >= _WHOLE_BYTES:
        parts.append(part := os.pread(descriptor, _CHUNK_BYTES, at))
        at += len(part)
    return b"".join(parts).decode("utf-8", "replace")
