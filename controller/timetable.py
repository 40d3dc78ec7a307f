"""All slots of a run on the clock, computed before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from controller.plan import Phase


@dataclass(frozen=True, slots=True)
class Slot:
    """One phase of one stage: `[start, end)` as offsets from the start of load.

    `users_at` is linear between `users_start` and `users_end`. `discard` at the slot's start is not measured;
    a window exists only in steady slots.
    """

    seq: int
    stage: str
    phase: Phase
    start: timedelta
    end: timedelta
    users_start: int
    users_end: int
    discard: timedelta = timedelta(0)

    @property
    def window(self) -> tuple[timedelta, timedelta] | None:
        """The measured half-open interval as offsets from the start of load, in steady slots only."""
        return (self.start + self.discard, self.end) if self.phase is Phase.STEADY else None


@dataclass(frozen=True, slots=True)
class Timetable:
    """Slots in order, without gaps."""

    slots: tuple[Slot, ...]

    @property
    def span(self) -> timedelta:
        """Planned time under load, drain excluded."""
        return self.slots[-1].end if self.slots else timedelta(0)

    @property
    def peak_users(self) -> int:
        """Most users that any slot asks for."""
        return max((max(slot.users_start, slot.users_end) for slot in self.slots), default=0)
