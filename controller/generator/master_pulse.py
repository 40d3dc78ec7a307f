"""The master's own signals: of its process, and that of workers that do not report."""

from __future__ import annotations

import time
from dataclasses import replace

from controller.generator import pulse
from controller.generator.book import Book
from controller.generator.pulse import Vitals
from controller.plans.generator import Limits
from exporters.loadgen_limits import in_force, of_master

WORKERS = "workers"


class MasterPulse:
    """Measures between two calls of `take`."""

    def __init__(self, book: Book, changed: Limits) -> None:
        """Start to measure this process; `changed` are the plan's limits."""
        limits = in_force(changed)
        self._book, self._limit = book, limits[WORKERS]
        self._pulse = pulse.begin(of_master(limits))

    def take(self) -> Vitals:
        """Since the last call."""
        vitals = self._pulse.take()
        reading = worker_silence(self._book, time.monotonic(), self._limit)
        return replace(vitals, saturation={**vitals.saturation, WORKERS: reading / self._limit})


def worker_silence(book: Book, now: float, limit: float) -> float:
    """Seconds for which the most silent worker has said nothing; of one that is gone for good `limit` at least."""
    gone = any(member.gone for member in book.members.values())
    return max(book.oldest(now), limit if gone else 0.0)
