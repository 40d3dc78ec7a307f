"""How close is this process to its own limits? Loop lag and CPU of the process that sends, read once a second."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import gevent

from exporters import loadgen

LAG_PERIOD = 0.02
"""How long the probe of the event loop asks to sleep, seconds."""

MOST_LAGS = 500
"""Bound on what is kept between two readings."""

READINGS = 3
"""The lag signal looks at the last three readings: of one second's fifty probes the 99th percentile would be the worst
one, so that a single hiccup of the machine would count as saturation."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """One second of a worker: counters of the process, lags in microseconds, distance of each signal to its limit."""

    cpu_seconds: float
    resident_bytes: int
    lags_us: tuple[int, ...]
    saturation: dict[str, float]


class Pulse:
    """Measures between two calls of `take`."""

    def __init__(self) -> None:
        """Start to measure."""
        self._lags: list[float] = []
        self._recent: deque[list[float]] = deque(maxlen=READINGS)
        self._before = loadgen.read_process()
        self._at = time.perf_counter()
        self._probe = gevent.spawn(self._watch_loop)

    def take(self) -> Vitals:
        """What was measured since the last call."""
        lags, self._lags = self._lags, []
        self._recent.append(lags)
        now, before, reading = time.perf_counter(), self._before, loadgen.read_process()
        found = loadgen.signals(
            reading.cpu_seconds - before.cpu_seconds,
            now - self._at,
            reading.quota_cores,
            [lag for second in self._recent for lag in second],
            group_cpu_seconds=_difference(reading.group_cpu_seconds, before.group_cpu_seconds),
        )
        self._before, self._at = reading, now
        lags_us = tuple(round(lag * 1e6) for lag in lags)
        return Vitals(reading.cpu_seconds, reading.resident_bytes, lags_us, loadgen.saturation(found))

    def _watch_loop(self) -> None:
        while True:
            asked = time.perf_counter()
            gevent.sleep(LAG_PERIOD)
            if len(self._lags) < MOST_LAGS:
                self._lags.append(max(time.perf_counter() - asked - LAG_PERIOD, 0.0))


def _difference(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else now - before
