"""Load averages, run-queue wait and file descriptors: `/proc/loadavg`, `/proc/schedstat`, `/proc/sys/fs/file-nr`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporters import kernel
from exporters.family import Family, many, single
from exporters.names import host as names

FILES_SECONDS = 5.0
"""Settings of the kernel are dear to read, and how many files a whole machine has open changes slowly."""


@dataclass(frozen=True, slots=True)
class LoadReading:
    """Load averages over 1, 5 and 15 minutes, seconds that threads waited by core, descriptors in use and allowed."""

    averages: tuple[float, ...]
    waited_seconds: dict[str, float]
    files: int | None
    files_limit: int | None


def read_load(proc: Path) -> LoadReading:
    """Read the three files under `proc`; `schedstat` and `file-nr` may be missing, `loadavg` may not."""
    averages = tuple(float(word) for word in kernel.read(f"{proc}/loadavg").split()[:3])
    files = (kernel.read_lately(f"{proc}/sys/fs/file-nr", FILES_SECONDS) or "").split()
    return LoadReading(
        averages=averages,
        waited_seconds=_waited(kernel.read_or_none(f"{proc}/schedstat") or ""),
        files=int(files[0]) if len(files) == 3 else None,
        files_limit=int(files[2]) if len(files) == 3 else None,
    )


def families(reading: LoadReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    one, five, fifteen = reading.averages
    return (
        single(names.LOAD1, one),
        single(names.LOAD5, five),
        single(names.LOAD15, fifteen),
        many(names.RUN_QUEUE_WAIT, (((core,), value) for core, value in reading.waited_seconds.items())),
        single(names.FILES, reading.files),
        single(names.FILES_LIMIT, reading.files_limit),
    )


def _waited(schedstat: str) -> dict[str, float]:
    """The eighth number of a core's line: nanoseconds that runnable threads waited for it."""
    lines = [line.split() for line in schedstat.splitlines() if line.startswith("cpu")]
    return {words[0].removeprefix("cpu"): int(words[8]) / 1e9 for words in lines if len(words) >= 9}
