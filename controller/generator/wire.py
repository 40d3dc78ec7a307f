"""What master and workers say to each other over Locust's own channel: message names and their contents.

Contents are plain dictionaries, because Locust packs them; here is the only place that knows their keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from controller.breakdown import Breakdown
from controller.generator.ledger import RawArrivals, RawCell
from controller.generator.pulse import Vitals
from controller.plans.arrivals import Arrivals

JOINED = "stagelight_joined"  # worker: its requests are prepared, it waits for orders
UNFIT = "stagelight_unfit"  # worker: it cannot do its work, and why
SWITCHED = "stagelight_switched"  # worker: an order took effect
REPORT = "stagelight_report"  # worker: everything since its last report
DRAINED = "stagelight_drained"  # worker: no request of it is in flight, and none will be
BEAT = "stagelight_beat"  # worker: it is there
WOKEN = "stagelight_woken"  # worker: it was asleep, and asks what to do
KNOCK = "stagelight_knock"  # worker of another host: is there a place?
WELCOME = "stagelight_welcome"  # master: name, part, specification and files
TURNED_AWAY = "stagelight_turned_away"  # master: no place, and why
TROUBLE = "stagelight_trouble"  # worker: something that a reader of the record must know, in a sentence
ORDER = "stagelight_order"  # master: users and attribution from now on
LEASE = "stagelight_lease"  # master: the right to send
DRAIN = "stagelight_drain"  # master: finish what is in flight, then report totals
QUIT = "stagelight_quit"  # master: end


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker that is ready; `pid` tells the master whether it is one of its own."""

    worker: str
    pid: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """A sentence for the record."""

    worker: str
    what: str


@dataclass(frozen=True, slots=True)
class Share:
    """One worker's part of an order: part `part` of `parts`, of `total` users over all workers.

    `arrivals` are those of all workers together and count from `at`, the epoch second at which the master took the
    order; None in a closed loop.
    """

    number: int
    slot: int
    measured: bool
    users: int
    part: int = 0
    parts: int = 1
    total: int = 0
    arrivals: Arrivals | None = None
    at: float = 0.0
    age: float = 0.0  # seconds since then, for a worker whose clock is another
    divided: float = 0.0  # epoch second of the division, if the workers have changed under this order; else 0
    answer: int = 0  # the number of the newest question of this worker that the master knew
    handover: float = 0.0  # so many seconds after `at` a replay is divided like this; before that as it was


@dataclass(frozen=True, slots=True)
class Switched:
    """Share `number` took effect at epoch second `at`."""

    worker: str
    number: int
    at: float


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What ended since the last report, and how the worker is; `sequence` rises by one each report.

    `started`, `ended` and `retries` count from the start of the process.
    """

    worker: str
    sequence: int
    cells: tuple[RawCell, ...]
    started: int
    ended: int
    users: int
    vitals: Vitals
    intended: tuple[RawCell, ...] = ()
    arrivals: tuple[RawArrivals, ...] = ()
    retries: int = 0

    def packed(self) -> dict[str, Any]:
        """Without copying the counts."""
        return {
            "worker": self.worker,
            "sequence": self.sequence,
            "cells": self.cells,
            "started": self.started,
            "ended": self.ended,
            "users": self.users,
            "intended": self.intended,
            "arrivals": self.arrivals,
            "retries": self.retries,
            "vitals": self.vitals.packed(),
        }


@dataclass(frozen=True, slots=True)
class WorkerDrained:
    """A worker's own totals by outcome since its start, which its reports have to add up to."""

    worker: str
    totals: dict[str, int]
    started: int
    aborted: int
    told: Breakdown = field(default_factory=dict)


def unpacked_report(body: dict[str, Any]) -> WorkerReport:
    """A report from what arrived."""
    vitals = Vitals.unpacked(body.pop("vitals"))
    rows = {name: tuple(tuple(row) for row in body[name]) for name in ("cells", "intended", "arrivals")}
    return WorkerReport(**{**body, **rows}, vitals=vitals)


def unpacked_share(body: dict[str, Any]) -> Share:
    """A share from what arrived."""
    arrivals = body.pop("arrivals", None)
    return Share(**body, arrivals=None if arrivals is None else Arrivals(**arrivals))
