"""The part of the lifecycle while load is on: orders at boundaries, leases each second, annotations kept alive."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from controller.orders import LEASE_PERIOD, Order
from controller.outcome import Outcome
from controller.plans.plan import Phase
from controller.plans.timetable import Timetable, load_at
from controller.running.happenings import (
    Action,
    Broken,
    DrainGenerator,
    ExtendSlot,
    Give,
    Instant,
    KillGenerator,
    Renew,
    Reported,
    Withdraw,
)
from controller.running.slot_track import SlotTrack
from controller.running.states import Draining, Ended, Limits, Loading

Step = tuple[Loading | Draining | Ended, tuple[Action, ...]]

RAMP_PERIOD = 1.0
"""Seconds between orders inside a ramp of users; a ramp of arrivals is one order, which the workers follow exactly."""


def begin_loading(at: Instant, limits: Limits) -> tuple[Loading, tuple[Action, ...]]:
    """Start the clock of the timetable and give its first order."""
    order = _order(limits.timetable, timedelta(0), 1)
    if order is None:
        raise ValueError("a timetable has at least one slot")
    slots = SlotTrack().sent(order, at.mono)
    state = Loading(at.mono, order, at.mono, at.mono, at.mono, slots)
    return state, (Renew(at), Give(order))


def on_tick(state: Loading, at: Instant, limits: Limits) -> Step:
    """Whatever is due now: the end of load, an order, a lease, a longer annotation; or the end of patience."""
    late = state.slots.overdue(at.mono, limits.answer_timeout)
    if late is not None:
        return _unanswered(state, Broken(at, f"the generator did not answer order {late.number} ({late.stage})"))
    order = _order(limits.timetable, timedelta(seconds=at.mono - state.origin), state.last.number + 1)
    if order is None:
        return end_loading(state, at, Outcome.COMPLETED, "the timetable is done", limits)
    actions: list[Action] = []
    if _is_due(order, state, at.mono):
        state = replace(state, last=order, ordered=at.mono, slots=state.slots.sent(order, at.mono))
        actions.append(Give(order))
    if at.mono - state.leased >= LEASE_PERIOD:
        state = replace(state, leased=at.mono)
        actions.append(Renew(at))
    open_slot = state.slots.open_slot
    if open_slot is not None and at.mono - state.extended >= limits.extend_every:
        state = replace(state, extended=at.mono)
        actions.append(ExtendSlot(open_slot, at))
    return state, tuple(actions)


def on_ack(state: Loading, reported: Reported) -> Step:
    """Slots open and close when the generator says so, not when we asked."""
    slots, actions = state.slots.acknowledged(reported)
    return replace(state, slots=slots), actions


def end_loading(
    state: Loading, at: Instant, outcome: Outcome, reason: str, limits: Limits
) -> tuple[Draining, tuple[Action, ...]]:
    """Take all users away, in an order of its own so that the moment is acknowledged, and drain."""
    seq = len(limits.timetable.slots)
    order = Order(state.last.number + 1, seq, Phase.DRAIN, Phase.DRAIN, measured=False, users=0)
    slots = state.slots.sent(order, at.mono)
    return Draining(at.mono, at.mono, outcome, reason, slots), (
        Renew(at),
        Give(order),
        DrainGenerator(limits.drain_timeout),
    )


def _order(timetable: Timetable, elapsed: timedelta, number: int) -> Order | None:
    load = load_at(timetable, elapsed)
    if load is None:
        return None
    slot = load.slot
    return Order(number, slot.seq, slot.stage, slot.phase, load.measured, load.users, load.arrivals)


def _is_due(order: Order, state: Loading, mono: float) -> bool:
    if (order.slot, order.measured) != (state.last.slot, state.last.measured):
        return True
    return order.users != state.last.users and mono - state.ordered >= RAMP_PERIOD


def _unanswered(state: Loading, broken: Broken) -> Step:
    closing = state.slots.close(broken.at.wall.timestamp())
    return Ended(Outcome.CRASHED, broken.what), (*closing, Withdraw(), KillGenerator())
