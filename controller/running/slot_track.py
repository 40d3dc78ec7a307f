"""Which slot is in effect, as the generator acknowledged it: orders sent, acks matched, slots opened and closed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from controller.orders import Ack, Order
from controller.running.happenings import Action, CloseSlot, OpenSlot, OpenWindow, Reported


@dataclass(frozen=True, slots=True)
class SlotTrack:
    """Orders on their way and the slot that the newest acknowledged one put into effect.

    `waiting` holds (order, monotonic seconds of sending), oldest first; `open_slot` is None before the first ack and
    after the last slot was closed.
    """

    waiting: tuple[tuple[Order, float], ...] = ()
    open_slot: int | None = None
    measured: bool = False

    def sent(self, order: Order, mono: float) -> SlotTrack:
        """The track after `order` left at `mono`."""
        return replace(self, waiting=(*self.waiting, (order, mono)))

    def overdue(self, mono: float, patience: float) -> Order | None:
        """The oldest order that has waited longer than `patience` seconds for its acknowledgement."""
        if self.waiting and mono - self.waiting[0][1] > patience:
            return self.waiting[0][0]
        return None

    def acknowledged(self, reported: Reported) -> tuple[SlotTrack, tuple[Action, ...]]:
        """The track after a report; an ack also stands for every older order, which it has overtaken."""
        report = reported.report
        if not isinstance(report, Ack):
            return self, ()
        order = next((order for order, _ in self.waiting if order.number == report.number), None)
        if order is None:
            return self, ()
        waiting = tuple((other, mono) for other, mono in self.waiting if other.number > report.number)
        actions: list[Action] = []
        if order.slot != self.open_slot:
            actions.extend(self.close(report.at))
            actions.append(OpenSlot(order.slot, report.at))
        if order.measured and (order.slot != self.open_slot or not self.measured):
            actions.append(OpenWindow(order.slot, report.at))
        return SlotTrack(waiting, order.slot, order.measured), tuple(actions)

    def close(self, at: float) -> tuple[Action, ...]:
        """What ends the slot in effect at `at` (epoch seconds)."""
        return () if self.open_slot is None else (CloseSlot(self.open_slot, at),)
