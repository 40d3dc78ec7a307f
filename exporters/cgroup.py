"""Which cgroup is this process in, and which limit of it binds? Version 1, version 2 and the hybrid of both.

A limit may sit on any ancestor, so every question is asked of the own cgroup and of all visible ancestors, and the
tightest answer wins. What cannot be read is unknown (`None`), never zero and never "no limit by accident".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Literal

from exporters import kernel

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")

Controller = Literal["cpu", "cpuacct", "memory"]

_UNLIMITED_V1_BYTES = 1 << 62
"""Version 1 writes "no limit" as the largest page-aligned 63-bit number; nothing real comes near half of it."""


@dataclass(frozen=True, slots=True)
class Group:
    """One controller's cgroup: its version, the own path as the kernel names it, own folder first, then ancestors."""

    version: Literal[1, 2]
    path: str
    folders: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that is set, with the folder that sets it: cores for the CPU, bytes for memory."""

    value: float
    folder: Path


@dataclass(frozen=True, slots=True)
class Throttling:
    """Counters of one folder since it was made: its enforcement periods, how many of them were cut, for how long."""

    periods: int
    throttled: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class _Mount:
    """Where one hierarchy is mounted: `base` shows the cgroup that the kernel calls `root`."""

    version: Literal[1, 2]
    controllers: frozenset[str]
    root: str
    base: Path


@dataclass(frozen=True, slots=True)
class Layout:
    """The cgroup mounts of the machine and where this process is in each; read once for several questions."""

    mounts: tuple[_Mount, ...]
    own: tuple[tuple[str, str], ...]

    def path(self, controller: str) -> str | None:
        """The own path by controller, version 2 under the empty name; the last line of the table wins."""
        return next((path for name, path in reversed(self.own) if name == controller), None)


def read_layout(proc: Path = PROC, root: Path = CGROUP) -> Layout:
    """Read the tables under `proc`; without a mount table, look at the usual places under `root`."""
    mounts = _mounts(kernel.read_or_none(proc / "self" / "mountinfo") or "", root)
    return Layout(mounts or _guess(root), _own_paths(kernel.read_or_none(proc / "self" / "cgroup") or ""))


def find(controller: Controller, layout: Layout) -> Group | None:
    """The cgroup of this process that `controller` acts on; None when the layout is unknown."""
    for mount in sorted(layout.mounts, key=lambda mount: mount.version):  # a controller is in 1 or in 2, never in both
        if mount.version == 2 or controller in mount.controllers:
            own = layout.path("" if mount.version == 2 else controller)
            path = mount.root if own is None else own
            return Group(mount.version, path, _folders(mount, path))
    return None


def cpu_limit(group: Group) -> Limit | None:
    """The tightest CPU quota over own cgroup and ancestors, in cores; None when none is set."""
    return _tightest(group, _quota_v1 if group.version == 1 else _quota_v2)


def memory_limit(group: Group) -> Limit | None:
    """The tightest memory limit over own cgroup and ancestors, in bytes; None when none is set."""
    return _tightest(group, _memory_v1 if group.version == 1 else _memory_v2)


def cpu_seconds(group: Group, folder: Path, layout: Layout) -> float | None:
    """CPU time used within `folder`, one of the CPU group's folders, since it was made; None when unknown."""
    file = cpu_seconds_file(group, folder, layout)
    return None if file is None else read_cpu_seconds(group, file)


def cpu_seconds_file(group: Group, folder: Path, layout: Layout) -> Path | None:
    """Where the CPU time of `folder`, one of the CPU group's folders, is counted; None when unknown.

    Version 1 keeps it in another controller, `cpuacct`, mounted beside `cpu` or together with it.
    """
    if group.version == 2:
        return folder / "cpu.stat"
    depth = group.folders.index(folder)
    accounting = find("cpuacct", layout)
    if accounting is None or accounting.path != group.path or depth >= len(accounting.folders):
        return None
    return accounting.folders[depth] / "cpuacct.usage"


def read_cpu_seconds(group: Group, file: Path) -> float | None:
    """What that file says: microseconds in version 2, nanoseconds in version 1; None when it cannot be read."""
    used = read_numbers(file).get("usage_usec") if group.version == 2 else read_number(file)
    return None if used is None else used / (1e6 if group.version == 2 else 1e9)


def throttling(group: Group, folder: Path) -> Throttling | None:
    """How often the CPU group's `folder` was held back; None where it is not told, as at the root of version 2.

    Version 1 counts nanoseconds, version 2 microseconds.
    """
    numbers = read_numbers(folder / "cpu.stat")
    if "nr_periods" not in numbers or "nr_throttled" not in numbers:
        return None
    key, per_second = ("throttled_time", 1e9) if group.version == 1 else ("throttled_usec", 1e6)
    seconds = numbers[key] / per_second if key in numbers else None
    return Throttling(numbers["nr_periods"], numbers["nr_throttled"], seconds)


def memory_in_use(group: Group, folder: Path, worth: float) -> int | None:
    """Bytes charged to the memory group's `folder`; from `worth` on without the page cache that can be dropped at once.

    The cache is in a long file that is not read while there is room. None when unknown.
    """
    usage, cache = (
        ("memory.usage_in_bytes", "total_inactive_file") if group.version == 1 else ("memory.current", "inactive_file")
    )
    used = read_number(folder / usage)
    if used is None or used < worth:
        return used
    found = kernel.pick(kernel.read_or_none(folder / "memory.stat") or "", (cache,)).get(cache, "0")
    return max(0, used - (int(found) if found.isdecimal() else 0))


def read_numbers(file: Path) -> dict[str, int]:
    """A flat `key value` file (`cpu.stat`, `memory.stat`); lines that are not numbers are left out."""
    found = {}
    for line in (kernel.read_or_none(file) or "").splitlines():
        key, _, value = line.partition(" ")
        if value.isdecimal():
            found[key] = int(value)
    return found


def read_number(file: Path) -> int | None:
    """The one integer of a file; None when it cannot be read or says `max`."""
    try:
        return int(kernel.read_or_none(file) or "")
    except ValueError:
        return None


def _tightest(group: Group, limit_of: Callable[[Path], float | None]) -> Limit | None:
    limits = [Limit(value, folder) for folder in group.folders if (value := limit_of(folder)) is not None]
    return min(limits, key=lambda limit: limit.value, default=None)


def _quota_v1(folder: Path) -> float | None:
    quota, period = read_number(folder / "cpu.cfs_quota_us"), read_number(folder / "cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _quota_v2(folder: Path) -> float | None:
    words = (kernel.read_or_none(folder / "cpu.max") or "").split()
    if len(words) != 2 or not all(word.isdecimal() for word in words) or 0 in map(int, words):
        return None
    return int(words[0]) / int(words[1])


def _memory_v1(folder: Path) -> float | None:
    limit = read_number(folder / "memory.limit_in_bytes")
    return None if limit is None or limit >= _UNLIMITED_V1_BYTES else float(limit)


def _memory_v2(folder: Path) -> float | None:
    limit = read_number(folder / "memory.max")
    return None if limit is None else float(limit)


@lru_cache(maxsize=4)
def _own_paths(table: str) -> tuple[tuple[str, str], ...]:
    """Controller to own path from `/proc/self/cgroup`; version 2 under the empty name."""
    paths: list[tuple[str, str]] = []
    for line in table.splitlines():
        _, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if colon:
            paths.extend((controller, path) for controller in controllers.split(","))
    return tuple(paths)


@lru_cache(maxsize=4)
def _mounts(table: str, root: Path) -> tuple[_Mount, ...]:
    """The cgroup mounts from `/proc/self/mountinfo`, moved under `root`."""
    found = []
    for line in table.splitlines():
        before, cgroup, after = line.partition(" - cgroup")
        words = before.split(" ")
        if not cgroup or len(words) < 5 or not f"{words[4]}/".startswith(f"{CGROUP}/"):
            continue
        version: Literal[1, 2] = 2 if after.startswith("2 ") else 1
        controllers = frozenset(after.rsplit(" ", 1)[-1].split(",")) if version == 1 else frozenset[str]()
        found.append(_Mount(version, controllers, words[3], root / words[4].removeprefix(str(CGROUP)).lstrip("/")))
    return tuple(found)


def _guess(root: Path) -> tuple[_Mount, ...]:
    """The usual places, for a tree without a mount table."""
    names: tuple[Controller, ...] = ("cpu", "cpuacct", "memory")
    if any((root / name).exists() for name in ("cgroup.controllers", "cpu.max", "memory.max", "cpu.stat")):
        return (_Mount(2, frozenset(), "/", root),)
    return tuple(_Mount(1, frozenset({n}), "/", root / n) for n in names if (root / n).is_dir())


def _folders(mount: _Mount, path: str) -> tuple[Path, ...]:
    """Own folder, then its ancestors up to the mount; a path outside the mount leaves what the mount shows."""
    own = PurePosixPath(path)
    inside = own.relative_to(mount.root) if own.is_relative_to(mount.root) else PurePosixPath()
    if ".." in inside.parts or not (mount.base / inside).is_dir():
        inside = PurePosixPath()
    return tuple(mount.base / part for part in (inside, *inside.parents))
