"""Looks at Prometheus from a thread of its own, because the run loop must never wait for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from controller.ports import EdgeError, MetricStore
from exporters.names import loadgen

JOB = "loadgen"


class ScrapeWatch:
    """Asks one question at a time; the answers are fetched without waiting."""

    def __init__(self, store: MetricStore, run_id: str) -> None:
        """Ask `store` about the generator of run `run_id`."""
        self._store = store
        self._run_id = run_id
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="scrape-watch")
        self._asked: tuple[str, Future[bool]] | None = None

    def look_for_scrape(self, total: int | None) -> None:
        """Ask whether the generator's series are there and, given a total, whether they sum up to it."""
        self._ask("scraped", lambda: self._scraped(total))

    def look_for_withdrawal(self) -> None:
        """Ask whether the job has no target any more."""
        self._ask("withdrawn", lambda: not self._store.active_targets(JOB))

    def answer(self) -> str | None:
        """`scraped` or `withdrawn` when the last question was answered with yes since the last call."""
        if self._asked is None or not self._asked[1].done():
            return None
        kind, future = self._asked
        self._asked = None
        try:
            return kind if future.result() else None
        except EdgeError:  # asked again next second; the lifecycle gives up in time and says so
            return None

    def close(self) -> None:
        """Stop asking; a question under way ends by its own timeout."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, kind: str, question: Callable[[], bool]) -> None:
        if self._asked is None or self._asked[0] != kind:
            self._asked = (kind, self._pool.submit(question))

    def _scraped(self, total: int | None) -> bool:
        mine = f'on (instance) group_left () {loadgen.INFO.name}{{run_id="{self._run_id}"}}'
        samples = self._store.instant(f"sum({loadgen.REQUESTS.name} * {mine})")
        return bool(samples) and (total is None or samples[0].value == total)
