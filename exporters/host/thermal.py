"""Temperatures and how often heat slowed a core down: `/sys/class/thermal`, `/sys/devices/system/cpu`."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from exporters import kernel
from exporters.family import Family, many
from exporters.names import host as names

EVERY_SECONDS = 10.0
"""Heat changes slowly, and a large machine has hundreds of these files."""

MOST_ZONES, MOST_CORES = 64, 512


@dataclass(frozen=True, slots=True)
class ThermalReading:
    """Degrees by zone, throttlings by core, and when they were read, of the monotonic clock."""

    celsius: dict[str, float]
    throttles: dict[str, int]
    at: float


def read_thermal(sys: Path, previous: ThermalReading | None) -> ThermalReading:
    """Read below `sys`, or give the previous reading again while it is new; empty where there is nothing."""
    now = time.monotonic()
    if previous is not None and now - previous.at < EVERY_SECONDS:
        return previous
    celsius = {}
    for zone in _numbered(sys / "class/thermal", "thermal_zone")[:MOST_ZONES]:
        kind, milli = (_line(sys / "class/thermal" / zone / name) for name in ("type", "temp"))
        if milli is not None and re.fullmatch(r"-?\d+", milli):  # a sensor that sleeps cannot be read
            celsius[f"{kind or 'unknown'}_{zone.removeprefix('thermal_zone')}"] = int(milli) / 1e3
    throttles = {}
    for core in _numbered(sys / "devices/system/cpu", "cpu")[:MOST_CORES]:
        count = _line(sys / "devices/system/cpu" / core / "thermal_throttle/core_throttle_count")
        if count is not None and count.isdecimal():
            throttles[core.removeprefix("cpu")] = int(count)
    return ThermalReading(celsius, throttles, now)


def families(reading: ThermalReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    return (
        many(names.TEMPERATURE, (((zone,), value) for zone, value in reading.celsius.items())),
        many(names.THERMAL_THROTTLES, (((core,), count) for core, count in reading.throttles.items())),
    )


def _numbered(folder: Path, prefix: str) -> list[str]:
    try:
        found = [name for name in os.listdir(folder) if re.fullmatch(rf"{prefix}\d+", name)]  # noqa: PTH208 - names only
    except OSError:
        return []
    return sorted(found, key=lambda name: int(name.removeprefix(prefix)))


def _line(file: Path) -> str | None:
    try:
        return kernel.read(file, keep=False).strip()
    except OSError:
        return None
