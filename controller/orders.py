"""What controller and generator say to each other: JSON lines over a local stream socket, one object a line.

The controller decides, the generator obeys: an `Order` is answered by an `Ack` with the time it took effect in every
worker, a `Lease` is the right to send for `LEASE_SECONDS` more, `Interval` is one second of exact counts.
Times named `at` are epoch seconds of the machine's wall clock; durations are seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from controller.breakdown import Breakdown
from controller.plans.arrivals import Arrivals

LEASE_SECONDS = 3.0
"""Without a renewal for this long every generator process stops sending by itself."""

LEASE_PERIOD = 1.0
"""How often the controller renews."""


@dataclass(frozen=True, slots=True)
class Order:
    """Run `users` for slot `slot`; `measured` while inside the slot's window. `number` rises by one each order.

    With `arrivals` the slot is an open loop: `users` is 0, and requests leave as the arrivals say from the moment on at
    which the order takes effect.
    """

    number: int
    slot: int
    stage: str
    phase: str
    measured: bool
    users: int
    arrivals: Arrivals | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to send, renewed; `at` is when the controller granted it."""

    at: float


@dataclass(frozen=True, slots=True)
class Drain:
    """Start no request any more, wait at most `timeout` for those in flight, then report totals."""

    timeout: float


@dataclass(frozen=True, slots=True)
class Quit:
    """End every generator process; only after `Drained`, or to give up."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The master is up, `workers` have joined, metrics are served at `metrics` (host:port)."""

    pid: int
    metrics: str
    workers: int
    locust_version: str


@dataclass(frozen=True, slots=True)
class Ack:
    """Order `number` took effect in every worker; `at` is when the last of them switched."""

    number: int
    at: float


@dataclass(frozen=True, slots=True)
class Cell:
    """Requests of one slot, window or not, and one outcome, that ended in an interval.

    `counts` maps a latency in microseconds (quantised to three significant digits) to its number. For timeouts the
    value is censored: the request was given up after that time.
    """

    slot: int
    measured: bool
    outcome: str
    counts: Mapping[int, int]
    sum_us: int  # exact sum of the unrounded latencies, microseconds


@dataclass(frozen=True, slots=True)
class ArrivalCell:
    """Arrivals of one slot, window or not, that were due in an interval; only open loops have them.

    `due` were sent or dropped; `dropped` counts by reason. `lateness` maps microseconds between the intended and the
    actual send to the number of requests sent, `lateness_sum_us` is its exact sum.
    """

    slot: int
    measured: bool
    due: int
    dropped: Mapping[str, int]
    lateness: Mapping[int, int]
    lateness_sum_us: int


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """One worker as of its last report; `saturation` maps signal to distance from its limit (1 = at it).

    `lags` maps microseconds that its event loop woke up late to their number, of the reports since the last interval.
    `present`: it is there; False for one that is dead, frozen, or cut off, within three seconds of that.
    """

    worker: str
    users: int
    report_age: float
    saturation: Mapping[str, float]
    lags: Mapping[int, int] = field(default_factory=dict)
    present: bool = True


@dataclass(frozen=True, slots=True)
class Interval:
    """What happened in `[start, end)` over all workers; about one second long."""

    start: float
    end: float
    cells: tuple[Cell, ...]
    started: int  # requests sent since the run began
    ended: int  # requests that ended since the run began
    in_flight: int
    users: int
    workers: tuple[WorkerHealth, ...]
    intended: tuple[Cell, ...] = ()  # the open loops' requests of `cells` again, timed from their intended send
    arrivals: tuple[ArrivalCell, ...] = ()
    rate: float = 0.0  # arrivals a second asked for at the end of the interval


@dataclass(frozen=True, slots=True)
class Drained:
    """Load is over; `totals` by outcome since the run began, `aborted` were in flight when the time was up.

    Aborted requests are counted in `totals` as `generator_error`. `told` has names, reasons and versions of the model,
    as far as workers lived to tell.
    """

    at: float
    totals: Mapping[str, int]
    started: int
    aborted: int
    told: Breakdown = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Short:
    """Load that `worker` should have carried and may not have: `share` (0 to 1) of what was asked, from `since` until
    `until` (epoch seconds), when it was divided anew; `what` says so in words."""

    worker: str
    since: float
    until: float
    share: float
    what: str


@dataclass(frozen=True, slots=True)
class Fault:
    """The generator cannot go on, or something went wrong that must not be silent; `short`: load was missing."""

    what: str
    fatal: bool
    short: Short | None = None


Command = Order | Lease | Drain | Quit
Report = Hello | Ack | Interval | Drained | Fault
_KINDS: Mapping[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Order, Lease, Drain, Quit, Hello, Ack, Interval, Drained, Fault)
}


def encode(message: Command | Report) -> bytes:
    """One line of JSON, ending in a newline; its `type` names the message."""
    body = {"type": type(message).__name__.lower(), **asdict(message)}
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def decode(line: bytes) -> Command | Report:
    """The message in a line. Raises `ValueError` for anything that is not one of ours."""
    body = json.loads(line)
    kind = _KINDS.get(body.pop("type", None)) if isinstance(body, dict) else None
    if kind is None:
        raise ValueError(f"not a message between controller and generator: {line[:80]!r}")
    if kind is Interval:
        body["cells"] = tuple(_cell(cell) for cell in body["cells"])
        body["intended"] = tuple(_cell(cell) for cell in body.get("intended", ()))
        body["arrivals"] = tuple(_arrival_cell(cell) for cell in body.get("arrivals", ()))
        body["workers"] = tuple(_health(worker) for worker in body["workers"])
    try:
        if kind is Order and body.get("arrivals") is not None:
            body["arrivals"] = Arrivals(**body["arrivals"])
        if kind is Fault and body.get("short") is not None:
            body["short"] = Short(**body["short"])
        return kind(**body)  # type: ignore[no-any-return]
    except TypeError as error:
        raise ValueError(f"malformed {kind.__name__}: {error}") from error


def _cell(body: dict[str, Any]) -> Cell:
    counts = {int(us): int(number) for us, number in body.pop("counts").items()}
    return Cell(counts=counts, **body)


def _health(body: dict[str, Any]) -> WorkerHealth:
    lags = {int(us): int(number) for us, number in body.pop("lags", {}).items()}
    return WorkerHealth(lags=lags, **body)


def _arrival_cell(body: dict[str, Any]) -> ArrivalCell:
    lateness = {int(us): int(number) for us, number in body.pop("lateness").items()}
    return ArrivalCell(lateness=lateness, **body)
