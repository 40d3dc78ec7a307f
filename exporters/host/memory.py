"""Memory, swap, page faults and kills for want of memory: `/proc/meminfo` and `/proc/vmstat`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from exporters import kernel
from exporters.family import Family, single
from exporters.metric import Metric
from exporters.names import host as names

COUNTERS_SECONDS = 5.0
"""The virtual memory system's counters are summed over all cores at every reading; swapping is told soon enough."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_SIZES: dict[str, Metric] = {
    "MemTotal": names.MEMORY_TOTAL,
    "MemFree": names.MEMORY_FREE,
    "MemAvailable": names.MEMORY_AVAILABLE,
    "Buffers": names.MEMORY_BUFFERS,
    "Cached": names.MEMORY_CACHED,
    "SwapTotal": names.SWAP_TOTAL,
    "SwapFree": names.SWAP_FREE,
}

_COUNTERS: dict[str, tuple[Metric, int]] = {
    "pswpin": (names.SWAP_IN, _PAGE_BYTES),
    "pswpout": (names.SWAP_OUT, _PAGE_BYTES),
    "pgmajfault": (names.MAJOR_FAULTS, 1),
    "oom_kill": (names.OOM_KILLS, 1),
}


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Sizes in bytes under the kernel's names, and the virtual memory system's counters as it writes them."""

    sizes: dict[str, int]
    counters: dict[str, int]


def read_memory(proc: Path) -> MemoryReading:
    """Read both files under `proc`; raises OSError without `meminfo`, `vmstat` may be missing."""
    sizes = {
        key: _bytes(rest) for key, rest in kernel.pick(kernel.read(f"{proc}/meminfo"), tuple(_SIZES), after=":").items()
    }
    counters = kernel.pick(kernel.read_lately(f"{proc}/vmstat", COUNTERS_SECONDS) or "", tuple(_COUNTERS))
    return MemoryReading(sizes, {key: int(number) for key, number in counters.items()})


def families(reading: MemoryReading) -> tuple[Family, ...]:
    """The reading as metric families; what the kernel does not tell has no series."""
    sizes = (single(metric, reading.sizes.get(key)) for key, metric in _SIZES.items())
    counters = (
        single(metric, None if (count := reading.counters.get(key)) is None else count * factor)
        for key, (metric, factor) in _COUNTERS.items()
    )
    return (*sizes, *counters)


def _bytes(text: str) -> int:
    number, *unit = text.split()
    return int(number) * (1024 if unit == ["kB"] else 1)
