"""The two axes of load: users in a closed loop, arrivals a second in an open one; how each is read and worded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from controller.plans.numbers import Whole
from controller.plans.plan import Level, OpenLoop
from controller.plans.rate import Rate, format_rate
from controller.plans.readers import Choice, Reader
from controller.plans.tables import Fields, Key
from controller.plans.timetable import MAX_IN_FLIGHT

MAX_USERS = 10_000
MAX_RATE = 100_000.0


@dataclass(frozen=True, slots=True)
class Axis:
    """One way to say how much load: the key of the number, and the keys and words that belong to it.

    `unit` is the least difference between two values; `noun` is what there is none of at zero. `refused` are keys that
    belong to the other axis.
    """

    key: str
    loop: str
    noun: str
    some: Reader  # a value above zero
    any: Reader  # zero, too
    unit: float
    show: Callable[[Level], str]
    give: str
    keys: dict[str, Key]
    refused: dict[str, tuple[str, str]]

    def whole(self, value: Level) -> int:
        """A value in whole units, so that sums of decimal fractions are exact."""
        return round(value / self.unit)

    def value(self, units: int) -> Level:
        """The value of whole units."""
        return units if self.unit == 1 else round(units * self.unit, 3)

    def open_loop(self, fields: Fields) -> OpenLoop | None:
        """How the arrivals of a stage come; None in a closed loop."""
        if self.loop != "open":
            return None
        most = fields.get("max_in_flight")
        return OpenLoop(fields.get("arrivals", "constant"), most, fields.get("seed", 1))


def _loop(word: str, doc: str, *, required: bool) -> Key:
    return Key(Choice((word,)), doc, required=required)


CLOSED = Axis(
    key="users",
    loop="closed",
    noun="users",
    some=Whole(1, MAX_USERS),
    any=Whole(0, MAX_USERS),
    unit=1,
    show=str,
    give="give users",
    keys={"loop": _loop("closed", "closed: users, each waiting for its answer (closed).", required=False)},
    refused=dict.fromkeys(
        ("rate", "arrivals", "max_in_flight", "seed"), ("belongs to an open loop", "say loop: open, or remove it")
    ),
)
"""Load as users, each of which waits for its answer."""

OPEN = Axis(
    key="rate",
    loop="open",
    noun="arrivals",
    some=Rate(0.001, MAX_RATE),
    any=Rate(0.0, MAX_RATE),
    unit=0.001,
    show=format_rate,
    give="give a rate",
    keys={
        "loop": _loop("open", "open: requests leave when they are due, answered or not.", required=True),
        "arrivals": Key(Choice(("constant", "poisson")), "Evenly spaced, or at random and independent (constant)."),
        "max_in_flight": Key(
            Whole(1, MAX_IN_FLIGHT), "Slots for requests under way; arrivals without one are dropped (rate x timeout)."
        ),
        "seed": Key(Whole(0, 2**32 - 1), "Of poisson arrivals (1)."),
    },
    refused={"users": ("has no meaning in an open loop", "give a rate, or say loop: closed")},
)
"""Load as arrivals a second, whatever becomes of earlier ones."""
