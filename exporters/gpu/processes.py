"""Memory of processes on a device, by name, bounded.

The library speaks of process numbers as the host counts them. In a container these numbers name nobody, or worse,
somebody else; so names come from the library, which knows them, and from `/proc` only in the host's own numbering.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import pynvml

from exporters.gpu.field import NOW_AND_THEN_SECONDS, Field, Handle
from exporters.gpu.reading import Measured
from exporters.names import gpu as names

MOST_NAMES = 16
OTHERS = "others"
UNKNOWN = "unknown"

_HOST_NUMBERING = "pid:[4026531836]"
"""The kernel's fixed number of the first process namespace (PROC_PID_INIT_INO)."""


def _processes(handle: Handle) -> Iterable[Measured]:
    found = dict(_running("Compute", handle))
    with suppress(pynvml.NVMLError_NotSupported):  # devices for computing only
        found |= dict(_running("Graphics", handle))
    return tuple(measured([(name_of(pid), memory) for pid, memory in found.items()]))


def _running(kind: str, handle: Handle) -> Iterable[tuple[int, int | None]]:
    """Numbers and memory by the newest function that the driver's library has: drivers before 510 have the second."""
    try:
        processes = getattr(pynvml, f"nvmlDeviceGet{kind}RunningProcesses_v3")(handle)
    except pynvml.NVMLError_FunctionNotFound:
        processes = getattr(pynvml, f"nvmlDeviceGet{kind}RunningProcesses_v2")(handle)
    return [(process.pid, process.usedGpuMemory) for process in processes]


def measured(found: Iterable[tuple[str, int | None]]) -> Iterable[Measured]:
    """Count and memory by name, the largest first; a name with a process whose memory is not told has no memory."""
    memories: dict[str, list[int | None]] = defaultdict(list)
    for name, memory in found:
        memories[name].append(memory)
    largest = sorted(memories, key=lambda name: (-sum(memory or 0 for memory in memories[name]), name))
    for name in largest[MOST_NAMES:]:
        memories[OTHERS].extend(memories.pop(name))
    for name in sorted(memories):
        told = [memory for memory in memories[name] if memory is not None]
        yield names.PROCESSES, (name,), len(memories[name])
        if len(told) == len(memories[name]):
            yield names.PROCESS_MEMORY, (name,), sum(told)


def name_of(pid: int) -> str:
    """The program's short name; `unknown` where nobody tells it for sure."""
    try:
        told = pynvml.nvmlSystemGetProcessName(pid)
    except (pynvml.NVMLError, UnicodeDecodeError):
        told = b""
    text = told.decode("utf-8", "replace") if isinstance(told, bytes) else told
    if text:
        return text.split("\0")[0].split(" ")[0].rpartition("/")[2][:64] or UNKNOWN
    return _comm(pid) if _numbers_are_the_host_s() else UNKNOWN


def _comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip() or UNKNOWN
    except OSError:
        return UNKNOWN


@cache
def _numbers_are_the_host_s() -> bool:
    try:
        return str(Path("/proc/self/ns/pid").readlink()) == _HOST_NUMBERING
    except OSError:
        return False


PROCESSES = Field("processes", _processes, NOW_AND_THEN_SECONDS)
