"""Requests of somebody's user classes, counted as ours are: a listener to Locust's `request` event."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gevent
from locust.clients import HttpSession
from locust.contrib.fasthttp import FastHttpSession

from controller.generator.ledger import GENERATOR_ERROR, Account, Ledger
from controller.generator.own_outcome import own_outcome
from controller.generator.reasons import Reasons

MOST_NAMES = 50
"""Request names that are told apart; the others together are `other`."""

OTHER = "other"
MOST_OPEN = 8
"""Requests of one greenlet within each other; more means that somebody never reports them."""

REMEMBERED = 100
"""Past orders of which an ending request may still be."""

log = logging.getLogger(__name__)


class Names:
    """Request names come from somebody's code and may hold ids: only the first ones stay apart."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        """`warn` gets one sentence when there are too many."""
        self.counts: Counter[tuple[str, bool]] = Counter()
        self._known: set[str] = set()
        self._warn = warn

    def bounded(self, name: object) -> str:
        """The name, or `other`."""
        text = str(name)[:200]
        if text in self._known:
            return text
        if len(self._known) < MOST_NAMES:
            self._known.add(text)
            return text
        if self._warn is not _silent:
            self._warn(
                f"more than {MOST_NAMES} request names: further ones are counted as {OTHER}; give requests with ids in "
                "their path a common name="
            )
            self._warn = _silent
        return OTHER

    def log_totals(self) -> None:
        """One line for every name, most frequent first."""
        for (name, good), number in self.counts.most_common():
            log.info("%d requests named %s %s", number, name, "were good" if good else "failed")


def _silent(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Open:
    """A request under way: where it is counted, and since when (`perf_counter`)."""

    account: Account
    began: float


class Recording:
    """Counts into the ledger of this process.

    Locust's own clients tell when a request begins; of other clients only the event at its end is known, and the
    request is counted on the account of the order that was in effect when it began: its end less its response time.
    """

    def __init__(self, ledger: Ledger, reasons: Reasons, names: Names) -> None:
        """Nothing was seen yet."""
        self._ledger, self._reasons, self._names = ledger, reasons, names
        self._orders: deque[tuple[float, Account]] = deque(maxlen=REMEMBERED)
        self._open: dict[Any, list[_Open]] = {}  # by greenlet: a request may be made while another's answer is judged

    def switched(self) -> None:
        """Another order is in effect from now on."""
        if not self._orders or self._orders[-1][1] is not self._ledger.current:
            self._orders.append((time.perf_counter(), self._ledger.current))

    def begun(self) -> None:
        """A request of the running greenlet leaves now."""
        mine = self._open.setdefault(gevent.getcurrent(), [])
        if len(mine) >= MOST_OPEN:
            self._give_up(mine.pop(0), UnreportedError("its user class never reported it"))
        mine.append(_Open(self._ledger.begin(), time.perf_counter()))

    def failed(self, error: BaseException) -> None:
        """The newest request of the running greenlet ended in an error that its client does not report."""
        if (one := self._newest()) is not None:
            self._give_up(one, error)

    def on_request(
        self, response_time: Any = None, exception: Any = None, response: Any = None, name: object = "", **_: Any
    ) -> None:
        """Locust's event; whatever user classes put into it, it is counted exactly once."""
        us, outcome = _microseconds(response_time), own_outcome(exception, response)
        if us is None:
            us, outcome, exception = 0, GENERATOR_ERROR, ValueError(f"a response time of {response_time!r}")
        one = self._newest()
        self._ledger.end(one.account if one else self._ledger.begin(self._account(us / 1e6)), outcome, us)
        self._names.counts[self._names.bounded(name), not exception] += 1
        if exception:
            self._reasons.note(outcome, exception if isinstance(exception, BaseException) else ValueError(exception))

    def cut(self) -> None:
        """Whoever was still busy has been ended: what was under way is given up and counted."""
        for mine in self._open.values():
            for one in mine:
                self._give_up(one, CutError("the time to drain was over"))
                self._ledger.aborted += 1
        self._open.clear()

    def _give_up(self, one: _Open, error: BaseException) -> None:
        self._ledger.end(one.account, GENERATOR_ERROR, round((time.perf_counter() - one.began) * 1e6))
        self._reasons.note(GENERATOR_ERROR, error)
        if isinstance(error, CutError):
            self._reasons.faults -= 1  # at the drain, on purpose

    def _newest(self) -> _Open | None:
        greenlet = gevent.getcurrent()
        mine = self._open.get(greenlet)
        if not mine:
            return None
        one = mine.pop()
        if not mine:
            del self._open[greenlet]
        return one

    def _account(self, seconds: float) -> Account:
        began = time.perf_counter() - seconds
        for at, account in reversed(self._orders):
            if at <= began:
                return account
        return self._orders[0][1] if self._orders else self._ledger.current


class UnreportedError(Exception):
    """A request that left and of which no event came."""


class CutError(Exception):
    """A request that was under way when the end had come."""


def watch_clients(recording: Recording) -> None:
    """Let Locust's own clients tell when a request begins."""
    for client in (HttpSession, FastHttpSession):
        _watch(client, recording)


def _watch(client: Any, recording: Recording) -> None:
    send = client._send_request_safe_mode

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        recording.begun()
        try:
            return send(self, *args, **kwargs)
        except Exception as error:
            recording.failed(error)
            raise

    client._send_request_safe_mode = watched


def _microseconds(response_time: Any) -> int | None:
    """Locust's milliseconds; None for what is no duration."""
    try:
        ms = float(response_time)
    except (TypeError, ValueError):
        return None
    return round(ms * 1000) if math.isfinite(ms) and ms >= 0 else None
