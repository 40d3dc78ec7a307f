"""One owner for one folder or file: a lock that the kernel ends with the process, and the owner's name for the others.

The number in the file is information only: after a crash it may belong to any other process, so nobody decides by it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from controller.ports import EdgeError


@dataclass(frozen=True, slots=True)
class Ownership:
    """Held until `release` or the end of the process."""

    _lock: IO[str]

    def release(self) -> None:
        """Let another process own it. Safe to call twice."""
        self._lock.close()


def own(lock: Path, what: str) -> Ownership:
    """Become the owner of `what`, a noun phrase for the message. Raises `EdgeError` that names the owner."""
    try:
        file = lock.open("a+", encoding="utf-8")
    except OSError as error:
        raise EdgeError(f"could not own {what}: {error}; make its folder writable") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        owner = _described(file.read(4096))
        file.close()
        if isinstance(error, BlockingIOError):
            raise EdgeError(f"could not own {what}: {owner} owns it; stop it first, or use another folder") from None
        raise EdgeError(f"could not own {what}: {error}; use a file system that has locks") from error
    file.truncate(0)
    file.write(json.dumps(_myself()))
    file.flush()
    return Ownership(file)


def is_owned(lock: Path) -> bool:
    """Whether a living process owns it now. Raises `EdgeError` when nobody could."""
    try:
        with lock.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        raise EdgeError(f"could not look at {lock}: {error}; make its folder writable") from error
    return False


def _myself() -> dict[str, str | int]:
    command = " ".join([Path(sys.argv[0]).name or "python", *sys.argv[1:3]])
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return {"pid": os.getpid(), "host": socket.gethostname(), "command": command, "since": since}


def _described(text: str) -> str:
    try:
        owner = json.loads(text)
        return f"process {owner['pid']} on {owner['host']} ({owner['command']}, since {owner['since']})"
    except (ValueError, KeyError, TypeError):
        return "another process"
