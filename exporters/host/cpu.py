"""CPU seconds by mode, context switches, running and blocked threads, boot time: `/proc/stat`."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from exporters import kernel
from exporters.family import Family, many, single
from exporters.names import host as names

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_REAL_RESET_SECONDS = 3.0
"""A step back by more is taken as a reset (suspend, migration); by less as the kernel's imprecise bookkeeping."""

_COUNTED = ("ctxt", "processes", "procs_running", "procs_blocked", "btime")

Seconds = dict[tuple[str, ...], float]
"""CPU seconds by (mode) or by (core, mode)."""


@dataclass(frozen=True, slots=True)
class CpuReading:
    """CPU seconds by mode over all cores, and the kernel's counters of work; None where the kernel does not tell.

    `core_seconds` are by core and mode, and empty unless they were asked for.
    """

    seconds: Seconds
    core_seconds: Seconds
    cores: int
    context_switches: int | None
    forks: int | None
    running: int | None
    blocked: int | None
    boot_time: int | None

    @property
    def busy_seconds(self) -> float:
        """What all programs together used: neither idle, nor waiting for a disk, nor stolen."""
        return sum(value for (mode,), value in self.seconds.items() if mode not in ("idle", "iowait", "steal"))


def read_cpu(proc: Path, previous: CpuReading | None = None, *, per_core: bool = False) -> CpuReading:
    """Read `stat` under `proc`; raises OSError or ValueError when there is none or it makes no sense."""
    cores, seconds, core_seconds = 0, Seconds(), Seconds()
    text = kernel.read(f"{proc}/stat")
    for line in text.splitlines():
        if not line.startswith("cpu"):
            break  # cores stand before everything else
        key, *words = line.split()
        if key == "cpu":
            seconds = _seconds((), words)
        else:
            cores += 1
            if per_core:
                core_seconds |= _seconds((key.removeprefix("cpu"),), words)
    numbers = {key: int(value.split()[0]) for key, value in kernel.pick(text, _COUNTED).items()}
    if not seconds:
        raise ValueError(f"{proc / 'stat'} has no line of all CPUs")
    reading = CpuReading(
        seconds=seconds,
        core_seconds=core_seconds,
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
    return replace(
        current,
        seconds=_held(previous.seconds, current.seconds),
        core_seconds=_held(previous.core_seconds, current.core_seconds),
    )


def families(reading: CpuReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    return (
        many(names.CPU, reading.seconds.items()),
        many(names.CPU_CORE, reading.core_seconds.items()),
        single(names.CPU_CORES, reading.cores or None),
        single(names.CONTEXT_SWITCHES, reading.context_switches),
        single(names.FORKS, reading.forks),
        single(names.RUNNING, reading.running),
        single(names.BLOCKED, reading.blocked),
        single(names.BOOT_TIME, reading.boot_time),
    )


def _seconds(labels: tuple[str, ...], words: list[str]) -> Seconds:
    return {(*labels, mode): int(ticks) / _TICKS_PER_SECOND for mode, ticks in zip(MODES, words, strict=False)}


def _held(previous: Seconds, current: Seconds) -> Seconds:
    return {
        key: before if 0 < (before := previous.get(key, 0.0)) - now < _REAL_RESET_SECONDS else now
        for key, now in current.items()
    }
