"""The archive on disk: one folder per run, its journal, and files that are either whole or not there."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from controller.edges.ownership import Ownership, own
from controller.edges.plain_json import line
from controller.ports import Clock, EdgeError

log = logging.getLogger(__name__)

JOURNAL = "journal.jsonl"
ENDED = "ended"
"""The key of the last entry of every journal whose run was brought to its end; its value is the outcome."""

MIN_FREE_BYTES = 200 * 1000 * 1000

LOOK_AGAIN = 0.5
"""Seconds between two tries of one who waits for the folder."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class RunsFolder:
    """The folder of all runs. Whoever owns it may begin runs and close lost ones; nobody else's run is alive then."""

    path: Path
    clock: Clock
    owner: Ownership | None = None
    min_free: int = MIN_FREE_BYTES

    @classmethod
    def take(cls, path: Path, clock: Clock, min_free: int = MIN_FREE_BYTES, patience: float = 0) -> RunsFolder:
        """Create and own it, until `close`. Raises `EdgeError` when another controller does for `patience` seconds."""
        folder = cls.beside(path, clock, min_free)
        return replace(folder, owner=folder._own(patience))

    @classmethod
    def beside(cls, path: Path, clock: Clock, min_free: int = MIN_FREE_BYTES) -> RunsFolder:
        """Create it and leave it to whoever wants it; it is owned by `turn` only. Raises `EdgeError`."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EdgeError(f"could not create the runs folder {path}: {error}; choose another") from error
        return cls(path, clock, None, min_free)

    @contextmanager
    def turn(self, patience: float = 0) -> Iterator[None]:
        """Own the folder while the block runs. Raises `EdgeError` when another does for `patience` seconds."""
        owner = self._own(patience) if self.owner is None else None
        try:
            yield
        finally:
            if owner is not None:
                owner.release()

    def _own(self, patience: float) -> Ownership:
        deadline = self.clock.monotonic() + patience
        while True:
            try:
                return own(self.path / ".lock", f"the runs folder {self.path}")
            except EdgeError:
                if self.clock.monotonic() >= deadline:
                    raise
                self.clock.sleep(LOOK_AGAIN)

    def create(self, run_id: str) -> RunDirectory:
        """The new folder of a run. Raises `EdgeError` when there is one, or not enough disk for what a run leaves."""
        folder = self.path / _name(run_id)
        try:
            free = shutil.disk_usage(self.path).free
            if free < self.min_free:
                raise EdgeError(
                    f"could not begin run {run_id}: {_megabytes(free)} are free at {self.path}, a run needs "
                    f"{_megabytes(self.min_free)}; free some disk, choose another runs folder or lower min_free"
                )
            folder.mkdir(mode=0o750)
            _sync(self.path)
            return RunDirectory.open(folder, self.clock)
        except FileExistsError as error:
            raise EdgeError(f"could not begin run {run_id}: {folder} is there already") from error
        except OSError as error:
            raise EdgeError(f"could not create {folder}: {error}; make the runs folder writable") from error

    def dangling(self) -> Sequence[Path]:
        """Folders of runs that were begun and never brought to their end: their controller was lost.

        A journal that cannot be read is left alone, with a warning: one damaged run must not stop all others.
        """
        return [journal.parent for journal in sorted(self.path.glob(f"*/{JOURNAL}")) if _dangles(journal.parent)]

    def close(self) -> None:
        """Let another controller own it."""
        if self.owner is not None:
            self.owner.release()


@dataclass(slots=True)
class RunDirectory:
    """One run's folder."""

    path: Path
    clock: Clock
    _journal: IO[bytes]

    @classmethod
    def open(cls, path: Path, clock: Clock) -> RunDirectory:
        """Go on with a run's folder; a torn last line of its journal is cut off. Raises `EdgeError`."""
        try:
            journal = (path / JOURNAL).open("a+b", buffering=0)
            journal.truncate(_whole(path / JOURNAL))
            _sync(path)
        except OSError as error:
            raise EdgeError(f"could not open the journal of {path}: {error}") from error
        return cls(path, clock, journal)

    def journal(self, entry: Mapping[str, Any]) -> None:
        """Append one line with its time, fsynced. Raises `EdgeError`; nothing of the line is left then."""
        text = line({"time": self.clock.now(), **entry})
        end = os.fstat(self._journal.fileno()).st_size
        try:
            if self._journal.write(text) != len(text):
                os.ftruncate(self._journal.fileno(), end)
                raise EdgeError(f"could not write the journal of {self.path}: {os.strerror(errno.ENOSPC)}")
            os.fsync(self._journal.fileno())
        except OSError as error:
            raise EdgeError(f"could not write the journal of {self.path}: {error}") from error

    def write(self, name: str, content: bytes) -> None:
        """Write a file by temporary name, fsync and rename: it is whole or not there. Raises `EdgeError`."""
        target = self.path / _name(name)
        fresh = self.path / f".{name}.new"
        try:
            with fresh.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(target)
            _sync(self.path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise EdgeError(f"could not write {target}: {error}; free some disk") from error

    def close(self) -> None:
        """Give the journal's file back."""
        self._journal.close()


def read_journal(folder: Path) -> list[dict[str, Any]]:
    """A run's journal without a torn last line. Raises `EdgeError` for a journal that is not one of ours."""
    path = folder / JOURNAL
    try:
        lines = path.read_bytes()[: _whole(path)].splitlines()
    except OSError as error:
        raise EdgeError(f"could not read {path}: {error}") from error
    entries = []
    for number, text in enumerate(lines, 1):
        try:
            entry = json.loads(text)
        except ValueError as error:
            raise EdgeError(f"could not read {path}: line {number} is not JSON: {error}") from error
        if not isinstance(entry, dict):
            raise EdgeError(f"could not read {path}: line {number} is not an entry of a journal")
        entries.append(entry)
    return entries


def _dangles(folder: Path) -> bool:
    try:
        if ENDED in _last_entry(folder / JOURNAL):
            return False
        return not any(ENDED in entry for entry in read_journal(folder))
    except (EdgeError, OSError) as error:
        log.warning("a run was passed over when looking for lost ones: %s", error)
        return False


def _last_entry(path: Path) -> Mapping[str, Any]:
    """The last whole line if it is short, as that of an ended run is: spares reading whole journals."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 4096, 0))
        tail = file.read().split(b"\n")
    try:
        entry = json.loads(tail[-2]) if len(tail) > 2 else {}
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _whole(path: Path) -> int:
    """Bytes up to the last newline: what was written whole."""
    return path.read_bytes().rfind(b"\n") + 1


def _name(name: str) -> str:
    if not _PLAIN_NAME.fullmatch(name):
        raise EdgeError(f"could not use {name!r} as the name of a file: letters, digits, '.', '_' and '-' only")
    return name


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.0f} MB"


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
