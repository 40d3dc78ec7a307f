"""Reads what this machine gives the processes of a generator, before there are any; imports nothing of Locust."""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

from controller.generator.process import DESCRIPTORS
from controller.running.room import Room
from exporters.discipline import read_discipline
from exporters.loadgen_readings import Reader, Reading

CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def read_room(runs: Path) -> Room:
    """Now; `runs` is the archive's folder, or one that will be made."""
    reading = Reader().read()
    sockets = None if reading.sockets is None else reading.sockets + (reading.time_wait or 0)
    return Room(
        descriptors=_descriptors(),
        ports=reading.ports,
        sockets=sockets,
        cores=len(os.sched_getaffinity(0)),
        quota=reading.quota_cores,
        memory=_memory(reading),
        disk=_disk(runs),
        clock=_clock(),
        clock_synchronised=_synchronised(),
    )


def _descriptors() -> int:
    """What a worker raises its limit to, or has already."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return DESCRIPTORS
    return max(soft, DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS))


def _memory(reading: Reading) -> int | None:
    found = [] if reading.available_bytes is None else [reading.available_bytes]
    if reading.group_limit is not None and reading.group_bytes is not None:
        found.append(max(0, round(reading.group_limit - reading.group_bytes)))
    return min(found, default=None)


def _disk(runs: Path) -> int | None:
    place = runs.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None


def _clock() -> str | None:
    try:
        return CLOCK.read_text().strip() or None
    except OSError:
        return None


def _synchronised() -> bool | None:
    """What the kernel's clock discipline says of itself."""
    try:
        found = read_discipline()
    except OSError:
        return None
    return None if found is None else found.synchronized
