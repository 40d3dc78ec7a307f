"""What can happen to a run (events) and what can be done about it (actions): two closed unions of values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from controller.orders import Order, Report
from controller.running.watching import Mark


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment on both clocks: `wall` (aware UTC) for stamps, `mono` (seconds) for durations."""

    wall: datetime
    mono: float


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""

    at: Instant


@dataclass(frozen=True, slots=True)
class PreflightPassed:
    """The target is usable."""

    at: Instant


@dataclass(frozen=True, slots=True)
class PreflightRefused:
    """The target is not usable; `sentence` says why and what to do."""

    at: Instant
    sentence: str


@dataclass(frozen=True, slots=True)
class Reported:
    """The generator said something."""

    at: Instant
    report: Report


@dataclass(frozen=True, slots=True)
class RuleHeld:
    """A stop rule held for its time."""

    at: Instant
    rule: str


@dataclass(frozen=True, slots=True)
class Scraped:
    """Prometheus has what `LookForScrape` asked for."""

    at: Instant


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Prometheus scrapes the generator no more."""

    at: Instant


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A person or the system asked us to stop; `by` names the signal."""

    at: Instant
    by: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The run cannot go on."""

    at: Instant
    what: str


@dataclass(frozen=True, slots=True)
class GeneratorGone:
    """No process of the generator is left."""

    at: Instant
    how: str


Event = (
    Tick
    | PreflightPassed
    | PreflightRefused
    | Reported
    | RuleHeld
    | Scraped
    | Withdrawn
    | Interrupted
    | Broken
    | GeneratorGone
)


@dataclass(frozen=True, slots=True)
class StartGenerator:
    """Start the Locust processes."""


@dataclass(frozen=True, slots=True)
class Publish:
    """Let Prometheus discover the generator's metrics at `address` (host:port)."""

    address: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Let Prometheus forget the generator."""


@dataclass(frozen=True, slots=True)
class LookForScrape:
    """Find out whether Prometheus has the generator's series, and, when `total` is given, that many requests."""

    total: int | None


@dataclass(frozen=True, slots=True)
class LookForWithdrawal:
    """Find out whether Prometheus has dropped the generator's target."""


@dataclass(frozen=True, slots=True)
class Give:
    """Hand an order to the generator."""

    order: Order


@dataclass(frozen=True, slots=True)
class Renew:
    """Renew the lease."""

    at: Instant


@dataclass(frozen=True, slots=True)
class OpenSlot:
    """A slot took effect at `at` (epoch seconds)."""

    seq: int
    at: float


@dataclass(frozen=True, slots=True)
class OpenWindow:
    """Measuring in a slot took effect at `at` (epoch seconds)."""

    seq: int
    at: float


@dataclass(frozen=True, slots=True)
class ExtendSlot:
    """The slot still lasts at `at`: move its annotation's end forward."""

    seq: int
    at: Instant


@dataclass(frozen=True, slots=True)
class CloseSlot:
    """A slot, and its window if it has one, ended at `at` (epoch seconds)."""

    seq: int
    at: float


@dataclass(frozen=True, slots=True)
class MarkTrouble:
    """Show that something disturbs the generator, or did."""

    mark: Mark


@dataclass(frozen=True, slots=True)
class DrainGenerator:
    """Start nothing more, wait `timeout` seconds for what is in flight."""

    timeout: float


@dataclass(frozen=True, slots=True)
class QuitGenerator:
    """Ask the drained generator to leave."""


@dataclass(frozen=True, slots=True)
class KillGenerator:
    """End the process group, by force if need be."""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for the record: something a reader of the numbers must know."""

    text: str


Action = (
    StartGenerator
    | Publish
    | Withdraw
    | LookForScrape
    | LookForWithdrawal
    | Give
    | Renew
    | OpenSlot
    | OpenWindow
    | ExtendSlot
    | CloseSlot
    | MarkTrouble
    | DrainGenerator
    | QuitGenerator
    | KillGenerator
    | Note
)
