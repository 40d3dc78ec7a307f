"""What one process uses: `stat`, descriptors, and the context switches of its threads, below `/proc/<number>`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from exporters import kernel

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
MOST_THREADS = 256
"""Context switches of a process are summed over at most so many threads."""
SWITCHES_EVERY_SECONDS = 5.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

Answer = TypeVar("Answer")

Who = tuple[int, int]
"""A process: its number, and its start in ticks since boot."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one process used in its life until now, and what it has now; None where that was denied."""

    user: float
    system: float
    threads: int
    resident_bytes: int
    descriptors: int | None
    voluntary: int | None
    involuntary: int | None
    switches_at: float = float("-inf")


NOTHING = Usage(0.0, 0.0, 0, 0, 0, 0, 0)


def read_usage(folder: Path, before: Mapping[Who, Usage]) -> tuple[Who, Usage, tuple[str, ...]]:
    """One process, its usage, and what was denied; raises OSError when it has gone, ValueError when it makes no sense.

    Context switches are read now and then, and kept where threads that ended take theirs with them.
    """
    words = kernel.read(folder / "stat", keep=False).rpartition(")")[2].split()
    who = (int(folder.name), int(words[19]))
    previous, now = before.get(who, NOTHING), time.monotonic()
    denied: list[str] = []
    descriptors = _ask(lambda: len(os.listdir(folder / "fd")), "descriptors", denied)  # noqa: PTH208 - names only
    switches = (previous.voluntary, previous.involuntary)
    if due := now - previous.switches_at >= SWITCHES_EVERY_SECONDS:
        found = _ask(lambda: _switches(folder / "task"), "context_switches", denied)
        switches = (None, None) if found is None else _not_back(found, previous)
    usage = Usage(
        user=int(words[11]) / TICKS_PER_SECOND,
        system=int(words[12]) / TICKS_PER_SECOND,
        threads=int(words[17]),
        resident_bytes=int(words[21]) * _PAGE_BYTES,
        descriptors=descriptors,
        voluntary=switches[0],
        involuntary=switches[1],
        switches_at=now if due else previous.switches_at,
    )
    return who, usage, tuple(denied)


def counters(usage: Usage) -> dict[str, float]:
    """The usage's counters by name; what was denied counts as nothing."""
    return {
        "user": usage.user,
        "system": usage.system,
        "voluntary": usage.voluntary or 0,
        "involuntary": usage.involuntary or 0,
    }


def less(usage: Usage, since: Usage) -> Usage:
    """What was used since then."""
    return replace(
        usage,
        user=max(0.0, usage.user - since.user),
        system=max(0.0, usage.system - since.system),
        voluntary=max(0, (usage.voluntary or 0) - (since.voluntary or 0)),
        involuntary=max(0, (usage.involuntary or 0) - (since.involuntary or 0)),
    )


def _switches(folder: Path) -> tuple[int, int]:
    """Voluntary and involuntary context switches, over all threads."""
    voluntary = involuntary = 0
    for thread in os.listdir(folder)[:MOST_THREADS]:  # noqa: PTH208 - names only
        try:
            status = kernel.read(folder / thread / "status", keep=False)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        found = kernel.pick(status, ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"), after=":\t")
        voluntary += int(found.get("voluntary_ctxt_switches", 0))
        involuntary += int(found.get("nonvoluntary_ctxt_switches", 0))
    return voluntary, involuntary


def _not_back(found: tuple[int, int], previous: Usage) -> tuple[int, int]:
    return max(found[0], previous.voluntary or 0), max(found[1], previous.involuntary or 0)


def _ask(read: Callable[[], Answer], name: str, denied: list[str]) -> Answer | None:
    """What may be denied; then it is named, and absent."""
    try:
        return read()
    except PermissionError:
        denied.append(name)
        return None
