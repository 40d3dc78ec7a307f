"""Names that take long to resolve delay requests, and it is not the target that is slow: they are counted."""

from __future__ import annotations

import time
from typing import Any

SLOW_SECONDS = 0.1
"""A name server answers within milliseconds; what takes longer is a part of somebody's latency."""


class Resolver:
    """Stands before an event loop's own resolver, of which it is otherwise a mirror."""

    def __init__(self, inner: Any) -> None:
        """Nothing was resolved yet."""
        self._inner = inner
        self._waiting: dict[int, float] = {}
        self._number = 0
        self._slow = 0

    def getaddrinfo(self, *args: Any, **kwargs: Any) -> Any:
        """As the inner one, with an eye on the clock."""
        self._number = number = self._number + 1
        self._waiting[number] = began = time.perf_counter()
        try:
            return self._inner.getaddrinfo(*args, **kwargs)
        finally:
            del self._waiting[number]
            self._slow += time.perf_counter() - began > SLOW_SECONDS

    def take(self) -> int:
        """How many names took too long since the last call, with those that nobody has an answer for yet."""
        now = time.perf_counter()
        slow, self._slow = self._slow, 0
        return slow + sum(now - began > SLOW_SECONDS for began in self._waiting.values())

    def __getattr__(self, name: str) -> Any:
        """Everything else is the inner one's."""
        return getattr(self._inner, name)


def watch(hub: Any) -> Resolver:
    """Time every name that is resolved in this event loop from now on, until the process ends.

    Our own clients resolve once, before load; users of somebody's own classes do with every connection.
    """
    hub.resolver = found = Resolver(hub.resolver)
    return found
