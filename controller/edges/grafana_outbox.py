"""Which regions does Grafana still have to get? A file that survives a crash at any byte.

Append-only JSON Lines, each line fsynced where it must not be lost; a torn or foreign line is passed over; compacted by
temporary name, fsync and rename. One process owns it, by a lock that ends with the process.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from controller.edges.ownership import is_owned, own
from controller.ports import EdgeError, Region
from controller.running.annotation import MARKERS

COMPACT_LINES = 512
"""A file shorter than this is not worth rewriting while it is in use."""


@dataclass(frozen=True, slots=True)
class Item:
    """One region's newest version and what became of it; versions count from 1."""

    region: Region
    version: int
    settled: int = 0  # newest version that Grafana has, or that was given up
    posting: bool = False  # a POST may have reached Grafana without our knowing how it ended

    @property
    def waiting(self) -> bool:
        """Whether the newest version is still to be delivered."""
        return self.settled < self.version

    @property
    def done(self) -> bool:
        """Nothing will ever have to be done about it again."""
        return self.region.closed and not self.waiting and not self.posting


class Outbox:
    """All items, in memory and on disk; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Load or create. Raises `EdgeError` when another process owns it or the folder cannot be written."""
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._owner = own(path.with_name(path.name + ".lock"), f"the annotation outbox {path}")
            self._items = _load(path)
            self._file, self._lines = self._rewrite()
        except OSError as error:
            raise EdgeError(f"could not open the annotation outbox {path}: {error}; make it writable") from error

    def put(self, region: Region) -> None:
        """A new version of a region, durable on return. Raises `OSError`; the version is kept in memory even then."""
        with self._lock:
            known = self._items.get(region.key)
            version = known.version + 1 if known else 1
            self._items[region.key] = replace(known, region=region, version=version) if known else Item(region, 1)
            self._append({"put": _encode(region), "version": version}, durable=True)

    def posting(self, key: str) -> None:
        """Note, durably and before it happens, that a region may come to exist in Grafana. Raises `OSError`."""
        with self._lock:
            self._items[key] = replace(self._items[key], posting=True)
            self._append({"posting": key}, durable=True)

    def settle(self, key: str, version: int) -> None:
        """Grafana has this version, or it was given up. May be lost: a delivery can be repeated."""
        with self._lock:
            self._items[key] = replace(self._items[key], settled=version)
            self._append({"settled": key, "version": version}, durable=False)

    def confirm(self, key: str) -> None:
        """Grafana was seen to have the region exactly once; forget regions that are done."""
        with self._lock:
            self._items[key] = replace(self._items[key], posting=False)
            self._append({"confirmed": key}, durable=False)
            self._forget_done()

    def inherit(self, path: Path) -> None:
        """Take over what another outbox still has to do, unless it is gone or owned. Raises `EdgeError`."""
        lock = path.with_name(path.name + ".lock")
        if not path.exists() or is_owned(lock):
            return
        owner = own(lock, f"the annotation outbox {path}")
        try:
            with self._lock:
                self._items = _load(path) | self._items
                old = self._file
                self._file, self._lines = self._rewrite()
                old.close()
            path.unlink()
        except OSError as error:
            raise EdgeError(f"could not take over the annotation outbox {path}: {error}; make it writable") from error
        finally:
            owner.release()

    def items(self) -> Mapping[str, Item]:
        """A snapshot by key, oldest first."""
        with self._lock:
            return dict(self._items)

    def close(self) -> None:
        """Let another process own it; nothing is written any more."""
        with self._lock:
            self._file.close()
            self._owner.release()

    def _forget_done(self) -> None:
        for key in [key for key, item in self._items.items() if item.done]:
            del self._items[key]
        if self._lines > COMPACT_LINES and self._lines > 8 * len(self._items) and not self._file.closed:
            old = self._file
            self._file, self._lines = self._rewrite()
            old.close()

    def _append(self, entry: Mapping[str, Any], *, durable: bool) -> None:
        if self._file.closed:
            return
        end = self._file.tell()
        try:
            _write_whole(self._file, _line(entry))
            if durable:
                os.fsync(self._file.fileno())
        except OSError:
            os.ftruncate(self._file.fileno(), end)
            self._file.seek(end)
            raise
        self._lines += 1

    def _rewrite(self) -> tuple[IO[bytes], int]:
        fresh = self._path.with_name(self._path.name + ".new")
        lines = [_line(entry) for key, item in self._items.items() for entry in _entries(key, item)]
        file = fresh.open("wb", buffering=0)
        try:
            _write_whole(file, b"".join(lines))
            os.fsync(file.fileno())
            fresh.replace(self._path)
            _sync_folder(self._path.parent)
        except OSError:
            file.close()
            raise
        return file, len(lines)


def _write_whole(file: IO[bytes], content: bytes) -> None:
    if file.write(content) != len(content):
        raise OSError(errno.ENOSPC, "only a part could be written")


def _load(path: Path) -> dict[str, Item]:
    items: dict[str, Item] = {}
    for entry in _read(path):
        try:
            _apply(items, entry)
        except (KeyError, TypeError, ValueError):
            continue
    return {key: item for key, item in items.items() if not item.done}


def _read(path: Path) -> Iterator[dict[str, Any]]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    for line in content.split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _apply(items: dict[str, Item], entry: dict[str, Any]) -> None:
    match entry:
        case {"put": dict(body), "version": int(version)}:
            region = _decode(body)
            known = items.get(region.key)
            items[region.key] = replace(known, region=region, version=version) if known else Item(region, version)
        case {"posting": str(key)}:
            items[key] = replace(items[key], posting=True)
        case {"settled": str(key), "version": int(version)}:
            items[key] = replace(items[key], settled=version)
        case {"confirmed": str(key)}:
            items[key] = replace(items[key], posting=False)
            if items[key].done:
                del items[key]
        case _:
            pass


def _entries(key: str, item: Item) -> Iterator[Mapping[str, Any]]:
    yield {"put": _encode(item.region), "version": item.version}
    if item.settled:
        yield {"settled": key, "version": item.settled}
    if item.posting:
        yield {"posting": key}


def _encode(region: Region) -> dict[str, Any]:
    return {
        "run_id": region.run_id,
        "seq": region.seq,
        "start": region.start.isoformat(),
        "end": region.end.isoformat(),
        "text": region.text,
        "tags": list(region.tags),
        "closed": region.closed,
        "marker": region.marker,
    }


def _decode(body: dict[str, Any]) -> Region:
    start, end = datetime.fromisoformat(body["start"]), datetime.fromisoformat(body["end"])
    tags = tuple(str(tag) for tag in body["tags"])
    rest = (tags, bool(body["closed"]), str(body.get("marker", MARKERS[1])))
    return Region(str(body["run_id"]), int(body["seq"]), start, end, str(body["text"]), *rest)


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
