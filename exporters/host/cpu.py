"""CPU seconds by mode, context switches, running and blocked threads, boot time: `/proc/stat`."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from exporters.family import Family, many, single
from exporters.names import host as names

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_REAL_RESET_SECONDS = 3.0
"""A step back by more is taken as a reset (suspend, migration); by less as the kernel's imprecise bookkeeping."""


@dataclass(frozen=True, slots=True)
class CpuReading:
    """CPU seconds by mode over all cores, and the kernel's counters of work; None where the kernel does not tell."""

    seconds: dict[str, float]
    cores: int
    context_switches: int | None
    forks: int | None
    running: int | None
    blocked: int | None
    boot_time: int | None


def read_cpu(proc: Path, previous: CpuReading | None = None) -> CpuReading:
    """Read `stat` under `proc`; raises OSError or ValueError when there is none or it makes no sense."""
    cores, seconds, numbers = 0, dict[str, float](), dict[str, int]()
    for line in (proc / "stat").read_text(encoding="ascii").splitlines():
        key, *words = line.split()
        if key == "cpu":
            seconds = {mode: int(ticks) / _TICKS_PER_SECOND for mode, ticks in zip(MODES, words, strict=False)}
        elif key.startswith("cpu"):
            cores += 1
        elif key != "intr" and words:
            numbers[key] = int(words[0])
    if not seconds:
        raise ValueError(f"{proc / 'stat'} has no line of all CPUs")
    reading = CpuReading(
        seconds=seconds,
        cores=cores,
        context_switches=numbers.get("ctxt"),
        forks=numbers.get("processes"),
        running=numbers.get("procs_running"),
        blocked=numbers.get("procs_blocked"),
        boot_time=numbers.get("btime"),
    )
    return reading if previous is None else hold(previous, reading)


def hold(previous: CpuReading, current: CpuReading) -> CpuReading:
    """Keep the old value of a mode that steps back a little, as iowait and idle do: a counter must not."""
    held = {
        mode: before if 0 < (before := previous.seconds.get(mode, 0.0)) - now < _REAL_RESET_SECONDS else now
        for mode, now in current.seconds.items()
    }
    return replace(current, seconds=held)


def families(reading: CpuReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    return (
        many(names.CPU, (((mode,), value) for mode, value in reading.seconds.items())),
        single(names.CPU_CORES, reading.cores or None),
        single(names.CONTEXT_SWITCHES, reading.context_switches),
        single(names.FORKS, reading.forks),
        single(names.RUNNING, reading.running),
        single(names.BLOCKED, reading.blocked),
        single(names.BOOT_TIME, reading.boot_time),
    )
