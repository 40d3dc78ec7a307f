"""Is a load generator process at its own limit? Readings in, distances to documented limits out.

Limits, both over the last second, after measurements of Locust under smooth overload, quota and a busy neighbour:

- `cpu`: 0.95 of what the process can get at most: one core (one interpreter lock) or the cgroup's quota if that is
  less. All processes of a cgroup share its quota, so the cgroup's whole use is held against the quota as well.
- `loop_lag`: the 99th percentile of how much later than asked the event loop woke up, 20 ms. It shows bursts that
  block the loop, quotas and neighbours, which CPU alone does not.

No single signal finds every kind of overload; a signal without a reading is absent, never zero.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from exporters import cgroup

CPU_LIMIT_RATIO = 0.95
LOOP_LAG_LIMIT_SECONDS = 0.020


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal's reading against its limit, both in `unit`."""

    name: Literal["cpu", "loop_lag"]
    value: float
    limit: float
    unit: Literal["ratio", "seconds"]

    @property
    def saturation(self) -> float:
        """Value over limit: 1 means that the generator is at its limit."""
        return self.value / self.limit


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """What a generator process uses and may use; counters since its start. None where it is unknown.

    `quota_cores` is the tightest CPU quota over the own cgroup and its ancestors (None also: no quota);
    `group_cpu_seconds` is the CPU time of everything in the cgroup that carries that quota.
    """

    cpu_seconds: float
    resident_bytes: int
    quota_cores: float | None
    group_cpu_seconds: float | None


def read_process(proc: Path = cgroup.PROC, root: Path = cgroup.CGROUP) -> ProcessReading:
    """Read this process; the clock is `time.process_time`, because tick counters step by 10 ms."""
    quota = group_seconds = None
    layout = cgroup.read_layout(proc, root)
    if (group := cgroup.find("cpu", layout)) and (limit := cgroup.cpu_limit(group)):
        quota = limit.value
        group_seconds = cgroup.cpu_seconds(group, limit.folder, layout)
    return ProcessReading(time.process_time(), psutil.Process().memory_info().rss, quota, group_seconds)


def signals(
    cpu_seconds: float,
    wall_seconds: float,
    quota_cores: float | None,
    lags: Sequence[float],
    *,
    group_cpu_seconds: float | None = None,
) -> tuple[Signal, ...]:
    """The signals of one interval.

    `cpu_seconds` and `group_cpu_seconds` are what the process and its cgroup used within `wall_seconds`; `lags` are the
    loop's wake-up delays in seconds within the same interval. No wall time, no CPU signal; no lags, no lag signal.
    """
    found = []
    if wall_seconds > 0:
        ratio = _cpu_ratio(cpu_seconds / wall_seconds, quota_cores, (group_cpu_seconds or 0.0) / wall_seconds)
        found.append(Signal("cpu", ratio, CPU_LIMIT_RATIO, "ratio"))
    if lags:
        found.append(Signal("loop_lag", p99(lags), LOOP_LAG_LIMIT_SECONDS, "seconds"))
    return tuple(found)


def saturation(readings: Iterable[Signal]) -> dict[str, float]:
    """Signal name to its distance to the limit; the worst where a name comes more than once."""
    worst: dict[str, float] = {}
    for signal in readings:
        worst[signal.name] = max(signal.saturation, worst.get(signal.name, 0.0))
    return worst


def p99(values: Sequence[float]) -> float:
    """The nearest-rank 99th percentile of a non-empty sequence; the rank in integers, so that no float rounds it."""
    rank = -(-99 * len(values) // 100)
    return sorted(values)[rank - 1]


def _cpu_ratio(own_cores: float, quota_cores: float | None, group_cores: float) -> float:
    """Cores used over cores to be had: against one core, against the quota, and the cgroup's use against the quota."""
    if quota_cores is None or quota_cores <= 0:
        return own_cores
    return max(own_cores, own_cores / quota_cores, group_cores / quota_cores)
