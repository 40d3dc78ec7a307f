"""What a load generator's process uses and may use, read once a second in the process that sends.

Nothing here scans: counts come from counters that the kernel keeps. What cannot be read is None, never zero.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from exporters import cgroup, kernel

PRESSURES = ("cpu", "memory", "io")

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_LISTING_SHARE = 0.002
"""Where the kernel does not count open files (before 6.2) they are listed, for at most this share of the time."""
_NEARLY = 0.8
"""From this share of a memory limit on it matters how much of the cgroup's memory is droppable cache."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One moment of a process; counters since its start or the cgroup's, sizes in bytes, times in seconds.

    `at` is of the monotonic clock, `wall` epoch. `quota_cores` is the tightest CPU quota over the own cgroup and its
    ancestors (None also: no quota), `group_cpu_seconds` the CPU time of everything in the cgroup that carries it, and
    `throttling` by folder how often a quota held it back. `group_bytes` are charged to the cgroup that carries the
    tightest memory limit. `pressure` is time in which some task waited, by resource: of the own cgroup for those in
    `own_pressure`, of the host for the others. `sockets` are TCP's of the own
    network namespace, `ports` how many the kernel may choose from.
    """

    at: float
    wall: float
    cpu_seconds: float
    quota_cores: float | None = None
    group_cpu_seconds: float | None = None
    quota_folder: str = ""
    throttling: tuple[tuple[str, cgroup.Throttling], ...] = ()
    run_delay_seconds: float | None = None
    pressure: tuple[tuple[str, float], ...] = ()
    own_pressure: tuple[str, ...] = ()
    sockets: int | None = None
    time_wait: int | None = None
    ports: int | None = None
    descriptors: int | None = None
    descriptor_limit: int | None = None
    resident_bytes: int | None = None
    address_bytes: int | None = None
    address_limit: int | None = None
    group_bytes: int | None = None
    group_limit: float | None = None
    available_bytes: int | None = None


class Reader:
    """Reads the thread that made it and its process; made after a fork, not before."""

    def __init__(self, proc: Path = cgroup.PROC, root: Path = cgroup.CGROUP) -> None:
        """Below other folders than the kernel's, everything but the own CPU time and limits is read from there."""
        self._proc, self._root = proc, root
        self._own = f"{proc}/self"
        self._schedule = f"{self._own}/task/{threading.get_native_id()}/schedstat"
        self._layout: cgroup.Layout | None = None
        self._cpu: cgroup.Group | None = None
        self._memory: cgroup.Group | None = None
        self._list_again = 0.0
        self._listed: int | None = None

    def read(self) -> Reading:
        """Now."""
        at = time.perf_counter()
        self._find_place()
        quota, group_seconds, folder, throttling = self._quota()
        group_limit, group_bytes = self._group_memory()
        resident, address = _memory(kernel.read_or_none(f"{self._own}/statm"))
        sockets, time_wait = self._sockets()
        pressure, own_pressure = self._pressure()
        return Reading(
            at=at,
            wall=time.time(),
            cpu_seconds=time.process_time(),  # tick counters step by 10 ms
            quota_cores=quota,
            group_cpu_seconds=group_seconds,
            quota_folder=folder,
            throttling=throttling,
            run_delay_seconds=self._run_delay(),
            pressure=pressure,
            own_pressure=own_pressure,
            sockets=sockets,
            time_wait=time_wait,
            ports=_ports(kernel.read_or_none(f"{self._proc}/sys/net/ipv4/ip_local_port_range")),
            descriptors=self._descriptors(at),
            descriptor_limit=_limit(resource.RLIMIT_NOFILE),
            resident_bytes=resident,
            address_bytes=address,
            address_limit=_limit(resource.RLIMIT_AS),
            group_bytes=group_bytes,
            group_limit=group_limit,
            available_bytes=_available(kernel.read_or_none(f"{self._proc}/meminfo")),
        )

    def _find_place(self) -> None:
        """A process may be moved into another cgroup while it runs."""
        layout = cgroup.read_layout(self._proc, self._root)
        if layout != self._layout:
            self._layout = layout
            self._cpu, self._memory = cgroup.find("cpu", layout), cgroup.find("memory", layout)

    def _quota(self) -> tuple[float | None, float | None, str, tuple[tuple[str, cgroup.Throttling], ...]]:
        group, layout = self._cpu, self._layout
        if group is None or layout is None:
            return None, None, "", ()
        limit = cgroup.cpu_limit(group)
        if limit is None:
            return None, None, "", ()
        throttling = [(str(one), found) for one in group.folders if (found := cgroup.throttling(group, one))]
        seconds = cgroup.cpu_seconds(group, limit.folder, layout)
        return limit.value, seconds, str(limit.folder), tuple(throttling)

    def _group_memory(self) -> tuple[float | None, int | None]:
        if self._memory is None or (limit := cgroup.memory_limit(self._memory)) is None:
            return None, None
        return limit.value, cgroup.memory_in_use(self._memory, limit.folder, _NEARLY * limit.value)

    def _run_delay(self) -> float | None:
        """Of the sending thread: time on a run queue, the second of three numbers, in nanoseconds."""
        text = kernel.read_or_none(self._schedule) or kernel.read_or_none(f"{self._own}/schedstat") or ""
        words = text.split()
        return int(words[1]) / 1e9 if len(words) > 1 and words[1].isdecimal() else None

    def _pressure(self) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
        """Of the own cgroup where it counts it (version 2), else of the host; and which are the own cgroup's."""
        folder = self._cpu.folders[0] if self._cpu is not None and self._cpu.version == 2 else None
        found, own = [], []
        for name in PRESSURES:
            text = kernel.read_or_none(folder / f"{name}.pressure") if folder else None
            if text:
                own.append(name)
            some = _stalled(text or kernel.read_or_none(f"{self._proc}/pressure/{name}") or "")
            if some is not None:
                found.append((name, some))
        return tuple(found), tuple(own)

    def _sockets(self) -> tuple[int | None, int | None]:
        """In use (both families) and in TIME_WAIT."""
        four = _sockets(kernel.read_or_none(f"{self._proc}/net/sockstat"), "TCP")
        six = _sockets(kernel.read_or_none(f"{self._proc}/net/sockstat6"), "TCP6")
        if "inuse" not in four:
            return None, None
        return four["inuse"] + six.get("inuse", 0), four.get("tw")

    def _descriptors(self, now: float) -> int | None:
        folder = f"{self._own}/fd"
        try:
            if self._proc == cgroup.PROC and (counted := os.stat(folder).st_size):  # noqa: PTH116 - a path object costs
                return counted
            if now >= self._list_again:
                began = time.thread_time()
                self._listed = len(os.listdir(folder)) - 1  # noqa: PTH208 - without the one that lists them
                self._list_again = now + (time.thread_time() - began) / _LISTING_SHARE
        except OSError as error:
            return _limit(resource.RLIMIT_NOFILE) if error.errno == 24 else None  # none is left to look with
        return self._listed


def _numbers(words: list[str]) -> list[int]:
    """The words as numbers; none at all where one is something else."""
    return [int(word) for word in words] if all(word.isdecimal() for word in words) else []


def _limit(kind: int) -> int | None:
    soft, _ = resource.getrlimit(kind)
    return None if soft == resource.RLIM_INFINITY else soft


def _memory(statm: str | None) -> tuple[int | None, int | None]:
    """Resident and whole size; the file counts pages."""
    pages = _numbers((statm or "").split()[:2])
    return (pages[1] * _PAGE_BYTES, pages[0] * _PAGE_BYTES) if len(pages) > 1 else (None, None)


def _available(meminfo: str | None) -> int | None:
    words = kernel.pick(meminfo or "", ("MemAvailable",), after=":").get("MemAvailable", "").split()
    return next((kib * 1024 for kib in _numbers(words[:1])), None)


def _ports(text: str | None) -> int | None:
    bounds = _numbers((text or "").split())
    return bounds[1] - bounds[0] + 1 if len(bounds) == 2 and bounds[0] <= bounds[1] else None


def _sockets(text: str | None, protocol: str) -> dict[str, int]:
    """`TCP: inuse 5 orphan 0 tw 3 ...` as numbers by word."""
    words = kernel.pick(text or "", (protocol,), after=": ").get(protocol, "").split()
    return {word: int(number) for word, number in zip(words[::2], words[1::2], strict=False) if number.isdecimal()}


def _stalled(text: str) -> float | None:
    """`some avg10=0.00 avg60=0.00 avg300=0.00 total=123` counts microseconds in its last word."""
    head, _, total = text.partition("\n")[0].rpartition("total=")
    return int(total) / 1e6 if head.startswith("some ") and total.isdecimal() else None
