"""What a worker sent in the last second, as its signals see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from gevent import get_hub

from controller.generator.ledger import Ledger, RawArrivals
from controller.generator.reasons import Reasons
from exporters.loadgen import Load
from exporters.loadgen_lookups import watch
from exporters.names.loadgen import NO_LEASE


class Counted(Protocol):
    """Where requests and their failures are counted."""

    @property
    def ledger(self) -> Ledger:
        """Requests."""
        ...

    @property
    def reasons(self) -> Reasons:
        """Failures."""
        ...


class Senders(Protocol):
    """Those who send."""

    @property
    def running(self) -> int:
        """Users that there are."""
        ...

    @property
    def asked(self) -> int:
        """Users that there should be."""
        ...

    @property
    def behind(self) -> float:
        """Seconds for which the next arrival of an open loop has been due."""
        ...


class Loads:
    """Takes differences of counters."""

    def __init__(self, work: Counted, crew: Senders) -> None:
        """Nothing was sent yet; names that are resolved in this loop are timed from now on."""
        self._work, self._crew = work, crew
        self._names = watch(get_hub())
        self._ended = self._faults = 0

    def take(self, arrivals: Iterable[RawArrivals]) -> Load:
        """Since the last call; `arrivals` are those that have come due since."""
        ledger, faults = self._work.ledger, self._work.reasons.faults
        requests, failed = ledger.ended - self._ended, faults - self._faults
        self._ended, self._faults = ledger.ended, faults
        lateness: Counter[int] = Counter()
        due = unsent = 0
        for _, _, number, dropped, late, _ in arrivals:
            due += number
            unsent += dropped.get(NO_LEASE, 0)
            lateness.update(late)
        return Load(
            lateness,
            due,
            unsent,
            self._crew.behind,
            self._crew.asked,
            self._crew.running,
            requests,
            failed + self._names.take(),
        )
