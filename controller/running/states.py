"""Where a run can be: a closed union of values, and the limits within which it moves."""

from __future__ import annotations

from dataclasses import dataclass

from controller.orders import Order
from controller.outcome import Outcome
from controller.plans.timetable import Timetable
from controller.running.slot_track import SlotTrack


@dataclass(frozen=True, slots=True)
class Limits:
    """What does not change during a run; all times in seconds, `deadline` on the monotonic clock."""

    timetable: Timetable
    metrics: bool  # a Prometheus is there to be waited for
    deadline: float
    drain_timeout: float
    start_timeout: float = 30.0
    scrape_timeout: float = 20.0  # Prometheus applies discovery at most every five seconds and scrapes every five
    answer_timeout: float = 5.0  # an order unanswered for this long breaks the run
    extend_every: float = 15.0  # annotations of open slots move forward this often


@dataclass(frozen=True, slots=True)
class Preparing:
    """Preflight is under way."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The generator is starting."""

    since: float


@dataclass(frozen=True, slots=True)
class Arming:
    """The generator is up and idle; Prometheus is to see it before load begins."""

    since: float
    leased: float
    looked: float


@dataclass(frozen=True, slots=True)
class Loading:
    """Load is on; `origin` is the monotonic time of the timetable's zero."""

    origin: float
    last: Order
    ordered: float
    leased: float
    extended: float
    slots: SlotTrack


@dataclass(frozen=True, slots=True)
class Draining:
    """No request starts any more; those in flight may end."""

    since: float
    leased: float
    outcome: Outcome
    reason: str
    slots: SlotTrack


@dataclass(frozen=True, slots=True)
class Collecting:
    """Load is over; Prometheus is to fetch the last figures, then to forget the generator."""

    since: float
    outcome: Outcome
    reason: str
    total: int
    leased: float
    looked: float
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Leaving:
    """The generator has been asked to leave."""

    since: float
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over; judging is all that is left."""

    outcome: Outcome
    reason: str


State = Preparing | Starting | Arming | Loading | Draining | Collecting | Leaving | Ended
