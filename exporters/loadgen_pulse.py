"""Takes a process's pulse: probes its event loop, times its garbage collector, and once a second reads and judges.

Knows no event loop: whoever owns one gives `probe` a timer of it.
"""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exporters import loadgen
from exporters.loadgen import Beat, Load
from exporters.loadgen_readings import Reader, Reading
from exporters.metric import Metric
from exporters.names import loadgen as names

LAG_PERIOD = 0.02
"""How long the timer that probes the event loop is set to, seconds."""

MOST_LAGS = 500
"""Bound on what is kept between two readings."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """One second of a process: counters, lags in microseconds, distance of each signal to its limit, and readings by
    the name of their metric."""

    cpu_seconds: float
    resident_bytes: int
    lags_us: tuple[int, ...]
    saturation: dict[str, float]
    readings: dict[str, float] = field(default_factory=dict)

    def packed(self) -> list[Any]:
        """As Locust's channel carries it."""
        return [self.cpu_seconds, self.resident_bytes, list(self.lags_us), self.saturation, self.readings]

    @classmethod
    def unpacked(cls, body: Sequence[Any]) -> Vitals:
        """From what arrived."""
        cpu, resident, lags, *rest = body
        return cls(cpu, resident, tuple(lags), *rest)


class Pulse:
    """Measures between two calls of `take`, which come about once a second, in the thread that sends."""

    def __init__(self, limits: Mapping[str, float], reader: Reader | None = None) -> None:
        """Start to measure; `limits` by signal."""
        self._limits = limits
        self._reader = reader or Reader()
        self._lags: list[float] = []
        first = self._reader.read()
        self._shift = first.wall - first.at
        self._beats = deque([Beat(first)], maxlen=loadgen.BEATS + 1)
        self._gc_began = self._gc_seconds = self._gc_longest = self._gc_total = 0.0
        self._faults = 0
        gc.callbacks.append(self._on_gc)

    def stop(self) -> None:
        """Measure the garbage collector no more."""
        if self._on_gc in gc.callbacks:
            gc.callbacks.remove(self._on_gc)

    def probe(self, timer: Any) -> None:
        """For ever: how much later than asked does the loop's `timer` call? One of gevent's, of `LAG_PERIOD`, again
        and again; a greenlet that sleeps costs the loop twice as much."""
        clock = time.perf_counter
        began = clock()

        def called() -> None:
            nonlocal began
            now = clock()
            if len(self._lags) < MOST_LAGS:
                self._lags.append(max(now - began - LAG_PERIOD, 0.0))
            began = now
            timer.again(called)

        timer.start(called)

    def take(self, load: Load | None = None) -> Vitals:
        """What was measured since the last call, in which the process sent `load`."""
        lags, self._lags = self._lags, []
        spent, longest = self._gc_seconds, self._gc_longest
        self._gc_seconds = self._gc_longest = 0.0
        self._gc_total += spent
        load = load or Load()
        self._faults += load.faults
        reading = self._reader.read()
        self._beats.append(Beat(reading, lags, spent, load))
        found = loadgen.signals(tuple(self._beats), self._limits)
        shown = _readings(reading) | {
            names.WORKER_GC.name: self._gc_total,
            names.WORKER_GC_LONGEST.name: longest,
            names.WORKER_CLOCK.name: reading.wall - reading.at - self._shift,
            names.WORKER_FAULTS.name: float(self._faults),
        }
        lags_us = tuple(round(lag * 1e6) for lag in lags)
        resident = reading.resident_bytes or 0
        return Vitals(reading.cpu_seconds, resident, lags_us, loadgen.saturation(found), shown)

    def _on_gc(self, phase: str, _: dict[str, int]) -> None:
        """In processor time: while somebody else has the core or the interpreter, it is not the collector."""
        if phase == "start":
            self._gc_began = time.thread_time()
        else:
            pause = max(time.thread_time() - self._gc_began, 0.0)
            self._gc_seconds += pause
            self._gc_longest = max(self._gc_longest, pause)


def _readings(now: Reading) -> dict[str, float]:
    """Those that there are, by the name of their metric."""
    pressure, held = dict(now.pressure), dict(now.throttling).get(now.quota_folder)
    found: dict[Metric, float | None] = {
        names.WORKER_QUOTA: now.quota_cores,
        names.WORKER_PERIODS: None if held is None else held.periods,
        names.WORKER_THROTTLED_PERIODS: None if held is None else held.throttled,
        names.WORKER_THROTTLED: None if held is None else held.seconds,
        names.WORKER_RUN_DELAY: now.run_delay_seconds,
        names.WORKER_CPU_PRESSURE: pressure.get("cpu"),
        names.WORKER_MEMORY_PRESSURE: pressure.get("memory"),
        names.WORKER_IO_PRESSURE: pressure.get("io"),
        names.WORKER_SOCKETS: now.sockets,
        names.WORKER_TIME_WAIT: now.time_wait,
        names.WORKER_PORTS: now.ports,
        names.WORKER_DESCRIPTORS: now.descriptors,
        names.WORKER_DESCRIPTOR_LIMIT: now.descriptor_limit,
        names.WORKER_MEMORY_LIMIT: now.group_limit,
        names.WORKER_GROUP_MEMORY: now.group_bytes,
    }
    return {metric.name: float(value) for metric, value in found.items() if value is not None}
