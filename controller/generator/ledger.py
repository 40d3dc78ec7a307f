"""What became of every request that this process sent: exact counts by slot, window and outcome, taken once a second.

Recording costs one dictionary entry and three additions a request; nothing is allocated while latencies repeat.
"""

from __future__ import annotations

from collections.abc import Callable

from controller.generator.latency import quantise
from exporters.names.loadgen import OUTCOMES

OK, HTTP_ERROR, TIMEOUT, CONNECTION_ERROR, INVALID_RESPONSE, GENERATOR_ERROR, DEGRADED = range(len(OUTCOMES))
"""Outcomes by position, because the sending loop indexes with them."""

RawCell = tuple[int, bool, str, dict[int, int], int]
"""Slot, measured, outcome, latency in microseconds to its number, exact sum: the fields of `orders.Cell` in order."""


RawArrivals = tuple[int, bool, int, dict[str, int], dict[int, int], int]
"""The fields of `orders.ArrivalCell` in order."""


class _Tally:
    """Latencies of one outcome since they were last taken."""

    __slots__ = ("counts", "sum_us")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.sum_us = 0

    def add(self, us: int) -> None:
        """Count one."""
        value = quantise(us)
        self.counts[value] = self.counts.get(value, 0) + 1
        self.sum_us += us


class Account:
    """Where the requests that start under one order are counted, whenever they end.

    `intended`, `lateness`, `due` and `dropped` are of open loops: latencies from the intended send, time from the
    intended to the actual send, arrivals, and those of them that were dropped, by reason.
    """

    __slots__ = ("dropped", "due", "intended", "lateness", "measured", "slot", "tallies")

    def __init__(self, slot: int, measured: bool) -> None:
        """An empty account of one slot, inside or outside its window."""
        self.slot = slot
        self.measured = measured
        self.tallies = tuple(_Tally() for _ in OUTCOMES)
        self.intended = tuple(_Tally() for _ in OUTCOMES)
        self.lateness = _Tally()
        self.due = 0
        self.dropped: dict[str, int] = {}

    def drop(self, reason: str) -> None:
        """An arrival that was due is not sent."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


class Ledger:
    """All accounts of one process. A request begins on the account of the order in effect and ends exactly once."""

    __slots__ = ("_accounts", "_current", "aborted", "ended", "started", "totals")

    def __init__(self) -> None:
        """Before the first order, requests would belong to slot -1; none is sent."""
        self._accounts: dict[tuple[int, bool], Account] = {}
        self.switch(-1, measured=False)
        self.started = 0
        self.ended = 0
        self.aborted = 0
        self.totals = [0] * len(OUTCOMES)

    @property
    def in_flight(self) -> int:
        """Requests begun and not ended."""
        return self.started - self.ended

    def switch(self, slot: int, *, measured: bool) -> None:
        """Every request that begins from now on belongs to this slot, inside its window or not."""
        self._current = self._accounts.setdefault((slot, measured), Account(slot, measured))

    @property
    def current(self) -> Account:
        """The account of the order in effect."""
        return self._current

    def begin(self, account: Account | None = None) -> Account:
        """A request leaves now, on the account of the order in effect or on that of the order under which it was
        first tried. What is returned has to be handed to `end`."""
        self.started += 1
        return account or self._current

    def end(self, account: Account, outcome: int, us: int, late_us: int | None = None) -> None:
        """A request that began on `account` ended as `outcome` after `us` microseconds; in an open loop it was sent
        `late_us` microseconds after it was due."""
        self.ended += 1
        self.totals[outcome] += 1
        tally = account.tallies[outcome]
        value = quantise(us)
        tally.counts[value] = tally.counts.get(value, 0) + 1
        tally.sum_us += us
        if late_us is not None:
            account.intended[outcome].add(us + late_us)

    def take(self) -> list[RawCell]:
        """Everything that ended since the last call; counts move to the caller."""
        return self._cells(lambda account: account.tallies)

    def take_intended(self) -> list[RawCell]:
        """The open loops' requests that ended since the last call again, timed from their intended send."""
        return self._cells(lambda account: account.intended)

    def take_arrivals(self) -> list[RawArrivals]:
        """Every arrival that was due since the last call, and how late those were that have been sent."""
        found: list[RawArrivals] = []
        for account in self._accounts.values():
            late = account.lateness
            if account.due or account.dropped or late.counts:
                key = (account.slot, account.measured)
                found.append((*key, account.due, account.dropped, late.counts, late.sum_us))
                account.due, account.dropped, late.counts, late.sum_us = 0, {}, {}, 0
        return found

    def _cells(self, tallies: Callable[[Account], tuple[_Tally, ...]]) -> list[RawCell]:
        cells: list[RawCell] = []
        for account in self._accounts.values():
            for outcome, tally in zip(OUTCOMES, tallies(account), strict=True):
                if tally.counts:
                    cells.append((account.slot, account.measured, outcome, tally.counts, tally.sum_us))
                    tally.counts, tally.sum_us = {}, 0
        return cells
