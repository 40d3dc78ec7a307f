"""The container's own view: quota, throttling, memory limit and working set of the cgroup whose limit binds.

Version 1 counts throttling in nanoseconds and version 2 in microseconds; both come out in seconds under one name.
Where a limit sits on an ancestor, its counters are the ancestor's, and the label `cgroup` names it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from exporters import cgroup, kernel
from exporters.cgroup import Controller, Group, Layout, Limit
from exporters.family import Family, many, single
from exporters.names import host as names

MOVES_SECONDS = 10.0
"""A process hardly ever moves to another cgroup, limits are seldom set, and the table of mounts is a dear file."""


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
class Part:
    """One controller of the own cgroup: the limit that binds, and the folder that sets it, else the own one.

    `seconds_file` counts CPU time; None where there is none, and for memory.
    """

    group: Group
    limit: float | None
    folder: Path
    seconds_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where this process was at that moment of the monotonic clock; None where the layout is unknown."""

    cpu: Part | None
    memory: Part | None
    at: float


@dataclass(frozen=True, slots=True)
class ContainerReading:
    """Both views, and the place that they are of; None where the layout of the cgroups is unknown."""

    cpu: CpuView | None
    memory: MemoryView | None
    place: Place


def read_container(proc: Path, root: Path, previous: ContainerReading | None = None) -> ContainerReading:
    """Read this process's cgroups below `root`; place and limits are looked for under `proc` now and then."""
    now = time.monotonic()
    place = None if previous is None or now - previous.place.at >= MOVES_SECONDS else previous.place
    place = place or _place(proc, root, now)
    return ContainerReading(
        cpu=None if place.cpu is None else _cpu(place.cpu),
        memory=None if place.memory is None else _memory(place.memory),
        place=place,
    )


def _place(proc: Path, root: Path, now: float) -> Place:
    layout = cgroup.read_layout(proc, root)
    cpu, memory = cgroup.find("cpu", layout), cgroup.find("memory", layout)
    return Place(
        cpu=None if cpu is None else _counted(_part(cpu, cgroup.cpu_limit(cpu)), layout),
        memory=None if memory is None else _part(memory, cgroup.memory_limit(memory)),
        at=now,
    )


def _part(group: Group, limit: Limit | None) -> Part:
    return Part(group, None, group.folders[0]) if limit is None else Part(group, limit.value, limit.folder)


def _counted(part: Part, layout: Layout) -> Part:
    return replace(part, seconds_file=cgroup.cpu_seconds_file(part.group, part.folder, layout))


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


def _cpu(part: Part) -> CpuView:
    numbers = cgroup.read_numbers(part.folder / "cpu.stat")
    unit, per_second = ("throttled_time", 1e9) if part.group.version == 1 else ("throttled_usec", 1e6)
    throttled = numbers.get(unit)
    return CpuView(
        version=part.group.version,
        path=_path(part),
        quota_cores=part.limit,
        seconds=None if part.seconds_file is None else cgroup.read_cpu_seconds(part.group, part.seconds_file),
        periods=numbers.get("nr_periods"),
        throttled_periods=numbers.get("nr_throttled"),
        throttled_seconds=None if throttled is None else throttled / per_second,
    )


def _memory(part: Part) -> MemoryView:
    usage_file, cache_key = (
        ("memory.usage_in_bytes", "total_inactive_file")
        if part.group.version == 1
        else ("memory.current", "inactive_file")
    )
    usage = cgroup.read_number(part.folder / usage_file)
    inactive = kernel.pick(kernel.read_or_none(part.folder / "memory.stat") or "", (cache_key,)).get(cache_key)
    return MemoryView(
        version=part.group.version,
        path=_path(part),
        limit=part.limit,
        usage=usage,
        working_set=None if usage is None or inactive is None else max(0, usage - int(inactive)),
    )


def _path(part: Part) -> str:
    """The folder's path as the kernel names it: the own path, or as many steps up as the folder is."""
    own = PurePosixPath(part.group.path)
    steps = part.group.folders.index(part.folder)
    return str(own if steps == 0 else own.parents[min(steps, len(own.parents)) - 1])
