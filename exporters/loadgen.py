"""Is a load generator process at its own limit? Readings in, distances to the limits of `loadgen_limits` out.

Pure: everything is a function of the last seconds of one process, and time is in the readings. No single signal finds
every kind of overload; a signal without a reading is absent, never zero. Signals look at the instrument only: how slow
the target is moves none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_low

from exporters.loadgen_readings import Reading

BEATS = 3
"""How many seconds signals look back over."""

STALL_PARTS = 10
"""A single delay of the loop of so many times the limit counts as at the limit: the process stood still."""

USUAL_PARTS = 4
"""A quarter of the limit in every second probe counts, too: as when a thread beside the loop keeps the interpreter,
which is handed over every 5 ms."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a process sent in a second. `lateness` maps microseconds to a number of requests; `due` arrivals were to be
    sent, `unsent` of them had no right to, and the next one has been waiting for `behind` seconds. `asked` and
    `running` are users; nobody was asked for in an open loop. `faults` are failures of this machine among `requests`
    and names that were slow to resolve."""

    lateness: Mapping[int, int] = field(default_factory=dict)
    due: int = 0
    unsent: int = 0
    behind: float = 0.0
    asked: int = 0
    running: int = 0
    requests: int = 0
    faults: int = 0


@dataclass(frozen=True, slots=True)
class Beat:
    """One second of a process: the reading at its end, and what happened in it. Times in seconds."""

    reading: Reading
    lags: Sequence[float] = ()
    gc_seconds: float | None = None
    load: Load = field(default_factory=Load)


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal's reading against its limit, both in the signal's unit."""

    name: str
    value: float
    limit: float

    @property
    def saturation(self) -> float:
        """Value over limit: 1 means that the generator is at its limit."""
        return self.value / self.limit


def signals(beats: Sequence[Beat], limits: Mapping[str, float]) -> tuple[Signal, ...]:
    """The signals at the end of the last of `beats`, of which the first is only where the look back begins."""
    view, first, last = beats[1:], beats[0].reading, beats[-1].reading
    wall = last.at - first.at
    if not view or wall <= 0:
        return ()
    found = {
        "cpu": _cpu(beats[-2].reading, last),
        "loop_lag": loop_lag([lag for beat in view for lag in beat.lags]),
        "throttling": _throttling(first, last),
        "run_queue": _rate(first.run_delay_seconds, last.run_delay_seconds, wall),
        "pressure": _pressure(first, last, wall),
        "sockets": _sockets(last),
        "descriptors": _share(last.descriptors, last.descriptor_limit),
        "memory": _memory(last),
        "lateness": _lateness([beat.load for beat in view]),
        "arrivals": _arrivals([beat.load for beat in view], wall),
        "users": _users([beat.load for beat in view]),
        "gc": _gc(view, wall),
        "clock": abs((last.wall - first.wall) - wall),
        "errors": _errors([beat.load for beat in view]),
    }
    return tuple(Signal(name, value, limits[name]) for name, value in found.items() if value is not None)


def saturation(readings: Iterable[Signal]) -> dict[str, float]:
    """Signal name to its distance to the limit."""
    return {signal.name: signal.saturation for signal in readings}


def p99(values: Sequence[float]) -> float:
    """The nearest-rank 99th percentile of a non-empty sequence; the rank in integers, so that no float rounds it."""
    rank = -(-99 * len(values) // 100)
    return sorted(values)[rank - 1]


def loop_lag(lags: Sequence[float]) -> float | None:
    """The most of the 99th percentile, a multiple of the median and a part of the longest; None without a probe."""
    return max(p99(lags), median_low(lags) * USUAL_PARTS, max(lags) / STALL_PARTS) if lags else None


def _cpu(before: Reading, now: Reading) -> float | None:
    """Cores used over cores to be had: against one core, against the quota, and the cgroup's use against the quota."""
    wall = now.at - before.at
    if wall <= 0:
        return None
    own = (now.cpu_seconds - before.cpu_seconds) / wall
    quota = now.quota_cores
    if quota is None or quota <= 0:
        return own
    same = now.quota_folder == before.quota_folder
    group = _rate(before.group_cpu_seconds, now.group_cpu_seconds, wall) if same else None
    return max(own, own / quota, (group or 0.0) / quota)


def _throttling(first: Reading, last: Reading) -> float | None:
    """The worst over the folders that a quota may hold back. No period, no share: the cgroup was idle."""
    before = dict(first.throttling)
    found = None
    for folder, now in last.throttling:
        then = before.get(folder)
        if then is not None:
            periods = now.periods - then.periods
            found = max(found or 0.0, (now.throttled - then.throttled) / periods if periods > 0 else 0.0)
    return found


def _pressure(first: Reading, last: Reading, wall: float) -> float | None:
    """The host's CPU does not count: a busy target beside the generator would be its saturation."""
    before = dict(first.pressure)
    counts = [name for name, _ in last.pressure if name != "cpu" or name in last.own_pressure]
    now = dict(last.pressure)
    return max(((now[name] - before[name]) / wall for name in counts if name in before), default=None)


def _sockets(now: Reading) -> float | None:
    if now.sockets is None or not now.ports:
        return None
    return (now.sockets + (now.time_wait or 0)) / now.ports


def _memory(now: Reading) -> float | None:
    """The host's memory is the last limit: what the process has, of that and what is still to be had."""
    found = [_share(now.group_bytes, now.group_limit), _share(now.address_bytes, now.address_limit)]
    if now.resident_bytes is not None:
        found.append(_share(now.resident_bytes, now.group_limit))
        if now.available_bytes is not None:
            found.append(_share(now.resident_bytes, now.resident_bytes + now.available_bytes))
    return max((share for share in found if share is not None), default=None)


def _lateness(loads: Sequence[Load]) -> float | None:
    """The 99th percentile of what was sent, of fewer than a hundred the second worst: one is no percentile."""
    counts: dict[int, int] = {}
    for load in loads:
        for us, number in load.lateness.items():
            counts[us] = counts.get(us, 0) + number
    total = sum(counts.values())
    left = max(total - -(-99 * total // 100), 1)
    if total < 2:
        return None
    for us in sorted(counts, reverse=True):
        left -= counts[us]
        if left < 0:
            return us / 1e6
    return None


def _arrivals(loads: Sequence[Load], wall: float) -> float | None:
    """At an even rate, so many seconds behind are that share of the arrivals of `wall` seconds."""
    due = sum(load.due for load in loads)
    return min(loads[-1].behind / wall + sum(load.unsent for load in loads) / due, 1.0) if due else None


def _users(loads: Sequence[Load]) -> float | None:
    """The smaller deficit of the last two seconds: those who have just been asked for are not late."""
    found = [max(load.asked - load.running, 0) / load.asked for load in loads[-2:] if load.asked]
    return min(found) if loads[-1].asked and found else None


def _gc(view: Sequence[Beat], wall: float) -> float | None:
    spent = [beat.gc_seconds for beat in view if beat.gc_seconds is not None]
    return sum(spent) / wall if spent else None


def _errors(loads: Sequence[Load]) -> float | None:
    faults, requests = sum(load.faults for load in loads), sum(load.requests for load in loads)
    return faults / max(requests, faults) if faults or requests else None


def _rate(before: float | None, now: float | None, wall: float) -> float | None:
    return None if before is None or now is None else max(now - before, 0.0) / wall


def _share(value: float | None, limit: float | None) -> float | None:
    return None if value is None or not limit else value / limit
