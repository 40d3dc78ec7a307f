"""When has an order taken effect everywhere? When every worker that can answer has switched."""

from __future__ import annotations

from collections.abc import Iterable

from controller.orders import Ack


class Acks:
    """Orders under way: whom they wait for and when the latest of the others switched."""

    def __init__(self) -> None:
        """No order under way."""
        self._waiting: dict[int, set[str]] = {}
        self._latest: dict[int, float] = {}

    def expect(self, number: int, workers: Iterable[str]) -> None:
        """Order `number` was sent to these workers."""
        self._waiting[number] = set(workers)

    def switched(self, worker: str, number: int, at: float) -> list[Ack]:
        """A worker switched at epoch second `at`; the orders that are complete by that."""
        if number not in self._waiting:
            return []
        self._latest[number] = max(at, self._latest.get(number, at))
        self._waiting[number].discard(worker)
        return self._complete()

    def without(self, *workers: str) -> list[Ack]:
        """Wait for these workers no longer; the orders that are complete by that."""
        for waiting in self._waiting.values():
            waiting.difference_update(workers)
        return self._complete()

    def _complete(self) -> list[Ack]:
        done = [number for number, waiting in self._waiting.items() if not waiting and number in self._latest]
        for number in done:
            del self._waiting[number]
        return [Ack(number, self._latest.pop(number)) for number in done]
