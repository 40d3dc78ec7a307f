"""The container's own view: quota, throttling, memory limit and working set of the cgroup whose limit binds.

Version 1 counts throttling in nanoseconds and version 2 in microseconds; both come out in seconds under one name.
Where a limit sits on an ancestor, its counters are the ancestor's, and the label `cgroup` names it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from exporters import cgroup, kernel
from exporters.cgroup import Controller, Group, Layout, Limit
from exporters.family import Family, many, single
from exporters.names import host as names

MOVES_SECONDS = 10.0
"""A process hardly ever moves to another cgroup, and the table of mounts is the dearest file of all."""


@dataclass(frozen=True, slots=True)
class CpuView:
    """CPU of one cgroup; None where the kernel does not tell or no quota is set."""

    version: int
    path: str
    quota_cores: float | None
    seconds: float | None
    periods: int | None
    throttled_periods: int | None
    throttled_seconds: float | None


@dataclass(frozen=True, slots=True)
class MemoryView:
    """Memory of one cgroup in bytes; None where the kernel does not tell or no limit is set."""

    version: int
    path: str
    limit: float | None
    usage: int | None
    working_set: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where this process is, found at that moment of the monotonic clock; None where the layout is unknown."""

    layout: Layout
    cpu: Group | None
    memory: Group | None
    at: float


@dataclass(frozen=True, slots=True)
class ContainerReading:
    """Both views, and the place that they are of; None where the layout of the cgroups is unknown."""

    cpu: CpuView | None
    memory: MemoryView | None
    place: Place


def read_container(proc: Path, root: Path, previous: ContainerReading | None = None) -> ContainerReading:
    """Read this process's cgroups below `root`, found by the tables under `proc`, which are read now and then."""
    now = time.monotonic()
    place = None if previous is None or now - previous.place.at >= MOVES_SECONDS else previous.place
    place = place or _place(proc, root, now)
    return ContainerReading(
        cpu=None if place.cpu is None else _cpu(place.cpu, place.layout),
        memory=None if place.memory is None else _memory(place.memory),
        place=place,
    )


def _place(proc: Path, root: Path, now: float) -> Place:
    layout = cgroup.read_layout(proc, root)
    return Place(layout, cgroup.find("cpu", layout), cgroup.find("memory", layout), now)


def families(reading: ContainerReading) -> tuple[Family, ...]:
    """The reading as metric families; the info says what was read, or that the layout is unknown."""
    infos = [_info("cpu", reading.cpu), _info("memory", reading.memory)]
    return (
        many(names.CONTAINER_INFO, ((labels, 1) for labels in infos)),
        *(() if reading.cpu is None else _cpu_families(reading.cpu)),
        *(() if reading.memory is None else _memory_families(reading.memory)),
    )


def _info(controller: Controller, view: CpuView | MemoryView | None) -> tuple[str, ...]:
    if view is None:
        return (controller, "unknown", "", "no_cgroup_mount_with_this_controller")
    return (controller, str(view.version), view.path, "")


def _cpu_families(view: CpuView) -> tuple[Family, ...]:
    return (
        single(names.CONTAINER_QUOTA, view.quota_cores, view.path),
        single(names.CONTAINER_CPU, view.seconds, view.path),
        single(names.CONTAINER_PERIODS, view.periods, view.path),
        single(names.CONTAINER_THROTTLED_PERIODS, view.throttled_periods, view.path),
        single(names.CONTAINER_THROTTLED, view.throttled_seconds, view.path),
    )


def _memory_families(view: MemoryView) -> tuple[Family, ...]:
    return (
        single(names.CONTAINER_MEMORY_LIMIT, view.limit, view.path),
        single(names.CONTAINER_MEMORY, view.usage, view.path),
        single(names.CONTAINER_WORKING_SET, view.working_set, view.path),
    )


def _cpu(group: Group, layout: Layout) -> CpuView:
    limit = cgroup.cpu_limit(group)
    folder = _binding(group, limit)
    numbers = cgroup.read_numbers(folder / "cpu.stat")
    unit, per_second = ("throttled_time", 1e9) if group.version == 1 else ("throttled_usec", 1e6)
    throttled = numbers.get(unit)
    return CpuView(
        version=group.version,
        path=_path(group, folder),
        quota_cores=None if limit is None else limit.value,
        seconds=cgroup.cpu_seconds(group, folder, layout),
        periods=numbers.get("nr_periods"),
        throttled_periods=numbers.get("nr_throttled"),
        throttled_seconds=None if throttled is None else throttled / per_second,
    )


def _memory(group: Group) -> MemoryView:
    limit = cgroup.memory_limit(group)
    folder = _binding(group, limit)
    usage_file, cache_key = (
        ("memory.usage_in_bytes", "total_inactive_file") if group.version == 1 else ("memory.current", "inactive_file")
    )
    usage = cgroup.read_number(folder / usage_file)
    inactive = kernel.pick(kernel.read_or_none(folder / "memory.stat") or "", (cache_key,)).get(cache_key)
    return MemoryView(
        version=group.version,
        path=_path(group, folder),
        limit=None if limit is None else limit.value,
        usage=usage,
        working_set=None if usage is None or inactive is None else max(0, usage - int(inactive)),
    )


def _binding(group: Group, limit: Limit | None) -> Path:
    return group.folders[0] if limit is None else limit.folder


def _path(group: Group, folder: Path) -> str:
    """The folder's path as the kernel names it: the own path, or as many steps up as the folder is."""
    own = PurePosixPath(group.path)
    steps = group.folders.index(folder)
    return str(own if steps == 0 else own.parents[min(steps, len(own.parents)) - 1])
