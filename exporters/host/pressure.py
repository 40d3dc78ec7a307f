"""Pressure stall information: how long work waited for CPU, memory and disks. `/proc/pressure/*`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporters import kernel
from exporters.family import Family, many
from exporters.names import host as names

RESOURCES = ("cpu", "memory", "io")


@dataclass(frozen=True, slots=True)
class PressureReading:
    """Stalled seconds by resource and share (`some`, `full`)."""

    seconds: dict[tuple[str, str], float]


def read_pressure(proc: Path) -> PressureReading | None:
    """Read `pressure` under `proc`; None where the kernel does not keep it."""
    seconds = {}
    for resource in RESOURCES:
        try:
            text = kernel.read(f"{proc}/pressure/{resource}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if error.errno == 95:  # switched off at boot: the file is there and cannot be read
                return None
            raise
        for line in text.splitlines():
            share, _, rest = line.partition(" ")
            seconds[resource, share] = int(rest.rpartition("total=")[2]) / 1e6
    return PressureReading(seconds) if seconds else None


def families(reading: PressureReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    return (many(names.PRESSURE, reading.seconds.items()),)
