"""Control groups of version 1, made by hand: less of a core, or less memory, than the generator needs."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.validity.case import Launch, Place, Strike, Victim

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
LONGEST_PERIOD_US = 1_000_000
MIB = 1 << 20


@contextmanager
def group(controller: str) -> Iterator[Path]:
    """A new group; whoever is left in it at the end goes back to where the controller's others are."""
    folder = ROOT / controller / f"validity-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        end = time.monotonic() + 5.0
        while folder.exists() and time.monotonic() < end:
            for pid in (folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):
                    (folder.parent / "cgroup.procs").write_text(pid)
            with contextlib.suppress(OSError):
                folder.rmdir()
            time.sleep(0.05)


def quota(cores: float, whom: Callable[[Victim], list[int]], period_us: int = PERIOD_US) -> Strike:
    """Some processes together get no more than so much of a core."""

    @contextmanager
    def strike(victim: Victim) -> Iterator[None]:
        with group("cpu") as folder:
            (folder / "cpu.cfs_period_us").write_text(str(period_us))
            (folder / "cpu.cfs_quota_us").write_text(str(round(cores * period_us)))
            for pid in whom(victim):
                (folder / "cgroup.procs").write_text(str(pid))
            yield

    return strike


def _workers(victim: Victim) -> list[int]:
    return victim.workers()


def _master(victim: Victim) -> list[int]:
    return [victim.master()]


half_a_core = quota(0.5, _workers)
starved_master = quota(0.005, _master, LONGEST_PERIOD_US)


@contextmanager
def memory_group(place: Place) -> Iterator[Launch]:
    """Start the program in a memory group that has no limit yet."""
    with group("memory") as folder:
        try:
            enter = f'echo $$ > {folder}/cgroup.procs; exec "$@"'
            yield Launch(("sh", "-c", enter, "sh"), {"VALIDITY_GROUP": str(folder)})
        finally:
            (folder / "memory.limit_in_bytes").write_text("-1")


@contextmanager
def memory_limit(victim: Victim) -> Iterator[None]:
    """From now on the program may have hardly more than it has: what it can do without is taken away first."""
    folder = ROOT / "memory" / f"validity-{os.getpid()}"
    for room in (0, 1, 2, 4, 8, 16):
        resident = sum(_resident(pid) for pid in (folder / "cgroup.procs").read_text().split())
        with contextlib.suppress(OSError):
            (folder / "memory.limit_in_bytes").write_text(str(resident + room * MIB))
            break
    yield


def _resident(pid: str) -> int:
    """Private memory of a process in bytes; what has ended has none."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0
