"""Is the generator still scraped while it is under load? Asked of Prometheus once a second, from a thread of its own.

The figures of a run do not come from Prometheus, so a hole in its series makes no figure wrong. But boards, alerts and
the archived series have that hole, and whoever is on call sees nothing meanwhile: so it is marked and noted.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from controller.ports import EdgeError, MetricStore
from exporters.names import loadgen

USUAL_SECONDS = 5.0
"""The time between two scrapes, until two of them have told it."""

LONGEST_SECONDS = 60.0
"""A longer time between two scrapes is no habit."""

LATE_SECONDS = 1.0
"""A scrape may come so much later than five quarters of the usual time: what is known is up to a second old."""

DRIFT = 0.001
"""So much may two clocks drift apart."""


@dataclass(frozen=True, slots=True)
class Habit:
    """The newest scrape as Prometheus stamped it, the usual time between two, and how far our monotonic clock is ahead
    of its clock: as far as when we knew of a scrape soonest."""

    stamp: float | None = None
    ahead: float = 0.0
    period: float = USUAL_SECONDS

    def after(self, stamp: float, now: float) -> Habit:
        """With what an answer said at `now`."""
        if self.stamp is None:
            return Habit(stamp, now - stamp)
        if stamp <= self.stamp:
            return self
        gap = stamp - self.stamp
        usual = gap if gap <= 2 * self.period and gap <= LONGEST_SECONDS else self.period
        return Habit(stamp, min(self.ahead + DRIFT * gap, now - stamp), usual)

    def overdue(self, now: float) -> float:
        """How long ago the newest scrape was, in seconds, once it is too long; 0 before, and before the first."""
        if self.stamp is None:
            return 0.0
        silence = now - self.stamp - self.ahead
        return silence if silence > 1.25 * self.period + LATE_SECONDS else 0.0


class ScrapeAge:
    """Asks one question at a time and never waits for its answer."""

    def __init__(self, store: MetricStore, run_id: str) -> None:
        """Ask `store` about the generator of run `run_id`."""
        self._store = store
        self._expression = f'timestamp({loadgen.INFO.name}{{run_id="{run_id}"}})'
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="scrape-age")
        self._asked: Future[float | None] | None = None
        self._habit = Habit()

    def overdue(self, now: float) -> float:
        """As `Habit.overdue`, by the last answer; asks anew. `now` is monotonic seconds."""
        if self._asked is not None and self._asked.done():
            stamp = self._asked.result()
            self._habit = self._habit if stamp is None else self._habit.after(stamp, now)
            self._asked = None
        if self._asked is None:
            self._asked = self._pool.submit(self._newest)
        return self._habit.overdue(now)

    def close(self) -> None:
        """Stop asking; a question under way ends by its own timeout."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _newest(self) -> float | None:
        try:
            samples = self._store.instant(self._expression)
        except EdgeError:  # it does not answer: then nothing new is known
            return None
        return max((sample.value for sample in samples), default=None)
