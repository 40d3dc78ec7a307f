"""Which runs does a folder hold, and in what state: finished, unfinished, or not readable?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from controller.ports import EdgeError
from controller.verdicts.record import RunRecord
from controller.verdicts.rejudge import read_record


@dataclass(frozen=True, slots=True)
class Finished:
    """A run with a record."""

    folder: Path
    record: RunRecord


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that has begun a journal and written no record: it is on, or its controller died."""

    folder: Path
    last_sign: datetime

    @property
    def sentence(self) -> str:
        """What can be said of it."""
        return f"no record: still running, or abandoned; last sign of life {self.last_sign:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A run whose record cannot be used, and why."""

    folder: Path
    sentence: str


Entry = Finished | Unfinished | Unreadable


def list_runs(runs: Path) -> tuple[Entry, ...]:
    """Every run folder below `runs`, the newest last. Raises `EdgeError` if there is no such folder."""
    try:
        folders = sorted(path for path in runs.iterdir() if path.is_dir())
    except OSError as error:
        raise EdgeError(
            f"could not list the runs in {runs}: {error.strerror}; name their folder with --runs"
        ) from error
    found = [entry for folder in folders if (entry := _entry(folder)) is not None]
    return tuple(sorted(found, key=_when))


def _entry(folder: Path) -> Entry | None:
    """What a folder is; None if it is no run's."""
    if (folder / "record.json").is_file():
        try:
            return Finished(folder, read_record(folder / "record.json"))
        except EdgeError as error:
            return Unreadable(folder, str(error))
    journal = folder / "journal.jsonl"
    if not journal.is_file():
        return None
    return Unfinished(folder, datetime.fromtimestamp(journal.stat().st_mtime, UTC))


def _when(entry: Entry) -> tuple[float, str]:
    match entry:
        case Finished(record=record, folder=folder):
            return record.started.timestamp(), folder.name
        case Unfinished(last_sign=last, folder=folder):
            return last.timestamp(), folder.name
        case Unreadable(folder=folder):
            return folder.stat().st_mtime, folder.name
