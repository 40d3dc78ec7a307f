"""Disk counters by device: `/proc/diskstats`, as the kernel keeps them, with no sum of our own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from exporters import kernel
from exporters.family import Family, many, single
from exporters.metric import Metric
from exporters.names import host as names

MOST_DEVICES = 64
_SECTOR_BYTES = 512  # the unit of this file, whatever the device's own sectors are
_NOT_A_DISK = re.compile(r"^(?:z?ram|loop|fd|sr)\d+$|^(?:[shv]|xv)d[a-z]+\d+$|^(?:nvme\d+n\d+|mmcblk\d+)p\d+$")
"""Memory, loops, removable drives, and partitions: their traffic is in their disk's counters."""

_COLUMNS: tuple[tuple[Metric, int, float], ...] = (
    (names.DISK_READS, 3, 1),
    (names.DISK_READ_BYTES, 5, _SECTOR_BYTES),
    (names.DISK_READ_TIME, 6, 1e-3),
    (names.DISK_WRITES, 7, 1),
    (names.DISK_WRITTEN_BYTES, 9, _SECTOR_BYTES),
    (names.DISK_WRITE_TIME, 10, 1e-3),
    (names.DISK_IN_PROGRESS, 11, 1),
    (names.DISK_BUSY, 12, 1e-3),
)
"""Metric, column of the file from 0, factor to the base unit."""


@dataclass(frozen=True, slots=True)
class DiskReading:
    """A device's line of the file, by device name; `left_out` devices are beyond the bound."""

    devices: dict[str, tuple[int, ...]]
    left_out: int


def read_disk(proc: Path) -> DiskReading | None:
    """Read `diskstats` under `proc`; None where there is none (some containers)."""
    try:
        text = kernel.read(f"{proc}/diskstats")
    except FileNotFoundError:
        return None
    lines = [words for line in text.splitlines() if len(words := line.split()) >= 14]
    disks = {words[2]: words for words in lines if not _NOT_A_DISK.match(words[2])}
    shown = {device: (*map(int, words[3:14]),) for device, words in list(disks.items())[:MOST_DEVICES]}
    return DiskReading(shown, len(disks) - len(shown))


def families(reading: DiskReading) -> tuple[Family, ...]:
    """The reading as metric families; a device that has gone ends its series."""
    return (
        *(
            many(metric, (((device,), line[column - 3] * factor) for device, line in reading.devices.items()))
            for metric, column, factor in _COLUMNS
        ),
        single(names.DEVICES_LEFT_OUT, reading.left_out, "disk"),
    )
