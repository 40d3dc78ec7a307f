"""What really happened in a run, as it happened: when each slot and window took effect and ended, and remarks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from controller.plans.plan import Phase
from controller.plans.timetable import Slot, Timetable


@dataclass(frozen=True, slots=True)
class SlotTimes:
    """Acknowledged times of one slot, epoch seconds; None: did not happen (yet)."""

    seq: int
    stage: str
    phase: Phase
    start: float
    window_start: float | None = None
    end: float | None = None


@dataclass(slots=True)
class Chronicle:
    """Filled by the run loop, read by display, telemetry and record."""

    timetable: Timetable
    slots: dict[int, SlotTimes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def open(self, seq: int, at: float) -> SlotTimes:
        """A slot took effect."""
        planned = self.planned(seq)
        self.slots[seq] = SlotTimes(seq, planned.stage, planned.phase, at)
        return self.slots[seq]

    def planned(self, seq: int) -> Slot:
        """The timetable's slot; one past its last is the drain."""
        if seq < len(self.timetable.slots):
            return self.timetable.slots[seq]
        span = self.timetable.span
        return Slot(seq, Phase.DRAIN.value, Phase.DRAIN, span, span, 0, 0)

    def open_window(self, seq: int, at: float) -> None:
        """Measuring began."""
        self.slots[seq] = replace(self.slots[seq], window_start=at)

    def close(self, seq: int, at: float) -> SlotTimes:
        """The slot, and with it its window, ended."""
        self.slots[seq] = replace(self.slots[seq], end=at)
        return self.slots[seq]

    def note(self, text: str) -> None:
        """Keep a remark, each only once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def current(self) -> SlotTimes | None:
        """The slot that is on, if any."""
        return next((slot for slot in self.slots.values() if slot.end is None), None)
