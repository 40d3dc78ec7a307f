"""Samples a collector at a fixed interval, off the scrape path, so that a scrape never waits for a reading."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass

from exporters.source import Collector, Result

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sampled:
    """One finished sample; times are of the monotonic clock."""

    started: float
    ended: float
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class State:
    """What a scrape may say about a collector at one moment.

    `sample` is None when there is none yet or when the newest is too old to be shown; `age_seconds` goes on growing.
    """

    collector: str
    interval_seconds: float
    sample: Sampled | None
    age_seconds: float | None
    samples: int
    timeouts: int
    hung: bool
    failures: dict[tuple[str, str], int]


class Sampler:
    """One thread for one collector. A reader that hangs holds this thread and nothing else; no second is started."""

    def __init__(self, collector: Collector, interval: float, deadline: float) -> None:
        """`interval` between starts and `deadline` for one sample, in seconds."""
        self.collector = collector
        self._interval, self._deadline = interval, deadline
        self._stop, self._first = threading.Event(), threading.Event()
        self._running_since: float | None = None
        self._newest: Sampled | None = None
        self._samples = self._timeouts = 0
        self._failures: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()  # a hung sample is counted once: as running, or as ended
        self._thread = threading.Thread(target=self._run, name=f"sampler-{collector.name}", daemon=True)

    def start(self) -> None:
        """Begin to sample; the first sample starts at once."""
        self._thread.start()

    def wait_first(self, timeout: float) -> bool:
        """Wait for the first sample; False when it is not there within `timeout` seconds."""
        return self._first.wait(timeout)

    def stop(self, timeout: float) -> bool:
        """End the thread, which closes the collector; False when a hung reader keeps it for `timeout` seconds."""
        self._stop.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def state(self, now: float) -> State:
        """What is known at `now` of the monotonic clock; touches nothing but memory."""
        with self._lock:
            running, newest = self._running_since, self._newest
            hung = running is not None and now - running > self._deadline
            age = None if newest is None else max(0.0, now - newest.ended)
            fresh = age is not None and age <= self._interval + self._deadline
            return State(
                collector=self.collector.name,
                interval_seconds=self._interval,
                sample=newest if fresh else None,
                age_seconds=age,
                samples=self._samples,
                timeouts=self._timeouts + hung,
                hung=hung,
                failures=dict(self._failures),
            )

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            self._sample_once()
            now = time.monotonic()
            missed = max(0, int((now - due) / self._interval))  # a late sample skips beats, it never bunches them
            due += self._interval * (missed + 1)
            self._stop.wait(due - now)
        self.collector.close()

    def _sample_once(self) -> None:
        started = time.monotonic()
        with self._lock:
            self._running_since = started
        results = self.collector.sample()
        ended = time.monotonic()
        late = ended - started > self._deadline
        with self._lock:
            self._running_since = None
            self._failures.update((r.source, r.failure) for r in results if r.failure)
            if late:
                self._timeouts += 1
            else:
                self._samples += 1
                self._newest = Sampled(started, ended, results)
        if late:
            logger.warning("%s", _too_late(self.collector.name, ended - started, self._deadline))
        self._first.set()


def _too_late(collector: str, seconds: float, deadline: float) -> str:
    return (
        f"sample took {seconds:.1f} s, longer than its deadline of {deadline:.1f} s, and is not shown "
        f"collector={collector}"
    )
