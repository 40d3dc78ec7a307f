"""The lifecycle, event by event."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from controller.orders import Ack, Drained, Fault, Hello, Report
from controller.outcome import Outcome
from controller.running.happenings import (
    Action,
    Broken,
    CloseSlot,
    DrainGenerator,
    Event,
    ExtendSlot,
    GeneratorGone,
    Give,
    Interrupted,
    KillGenerator,
    LookForScrape,
    LookForWithdrawal,
    Note,
    OpenSlot,
    OpenWindow,
    PreflightPassed,
    PreflightRefused,
    Publish,
    QuitGenerator,
    Renew,
    Reported,
    RuleHeld,
    Scraped,
    StartGenerator,
    Tick,
    Withdraw,
    Withdrawn,
)
from controller.running.lifecycle import advance
from controller.running.states import Collecting, Draining, Ended, Leaving, Limits, Loading, Preparing, Starting, State
from tests.controller.builders import START, at, limits

HELLO = Hello(pid=1, metrics="127.0.0.1:9000", workers=1, locust_version="2")


def says(mono: float, report: Report) -> Reported:
    return Reported(at(mono), report)


def acked(mono: float, number: int) -> Reported:
    return says(mono, Ack(number, START.timestamp() + mono))


def drained(mono: float, ok: int = 100) -> Reported:
    return says(mono, Drained(START.timestamp() + mono, {"ok": ok}, started=ok, aborted=0))


def play(*events: Event, within: Limits | None = None, state: State | None = None) -> tuple[State, list[Action]]:
    """Feed events; the last state and every action."""
    now, done = state or Preparing(), list[Action]()
    for event in events:
        now, actions = advance(now, event, within or limits())
        done.extend(actions)
    return now, done


def loading(within: Limits | None = None) -> State:
    """Load began at 10 and its first order was acknowledged."""
    events = (PreflightPassed(at(0)), says(1, HELLO), Scraped(at(10)), acked(10.01, 1))
    return play(*events, within=within)[0]


def kinds(actions: Sequence[Action]) -> list[type]:
    return [type(action) for action in actions]


def test_a_whole_run_goes_from_preflight_to_its_end() -> None:
    acks = {15.0: acked(15.04, 2), 20.0: acked(20.03, 3), 35.0: acked(35.02, 4)}
    events: list[Event] = [PreflightPassed(at(0)), says(1, HELLO), Scraped(at(10)), acked(10.01, 1)]
    for tick in (Tick(at(half / 2)) for half in range(21, 71)):
        events.append(tick)
        if tick.at.mono in acks:
            events.append(acks[tick.at.mono])
    events += [drained(36), Scraped(at(40)), Withdrawn(at(44)), GeneratorGone(at(45), "it left")]
    state, actions = play(*events)
    assert state == Ended(Outcome.COMPLETED, "the timetable is done")
    orders = [action.order for action in actions if isinstance(action, Give)]
    assert [(order.slot, order.measured, order.users) for order in orders] == [
        (0, False, 2),
        (1, False, 10),
        (1, True, 10),
        (2, False, 0),
    ]
    seen = [action for action in actions if not isinstance(action, Renew | LookForScrape | LookForWithdrawal)]
    assert kinds(seen) == [
        StartGenerator,
        Publish,
        Give,
        OpenSlot,
        Give,
        CloseSlot,
        OpenSlot,
        Give,
        OpenWindow,
        ExtendSlot,
        Give,
        DrainGenerator,
        CloseSlot,
        OpenSlot,
        CloseSlot,
        Withdraw,
        QuitGenerator,
    ]


def test_slots_open_and_close_when_the_generator_says_so() -> None:
    _, actions = play(Tick(at(15)), acked(15.04, 2), Tick(at(20)), acked(20.03, 3), state=loading())
    times = {type(a): a.at - START.timestamp() for a in actions if isinstance(a, OpenSlot | CloseSlot | OpenWindow)}
    assert times == pytest.approx({CloseSlot: 15.04, OpenSlot: 15.04, OpenWindow: 20.03})


def test_load_waits_until_prometheus_has_seen_the_generator() -> None:
    state, actions = play(PreflightPassed(at(0)), says(1, HELLO), Tick(at(2)), Tick(at(3)))
    assert Give not in kinds(actions)
    assert kinds(actions).count(LookForScrape) == 3
    state, actions = play(Tick(at(21.1)), state=state)
    assert isinstance(state, Loading)
    assert "did not scrape" in next(action.text for action in actions if isinstance(action, Note))


def test_without_prometheus_load_begins_and_ends_at_once() -> None:
    alone = limits(metrics=False)
    state, _ = play(PreflightPassed(at(0)), says(1, HELLO), acked(1.1, 1), within=alone)
    assert isinstance(state, Loading)
    state, actions = play(Tick(at(26)), drained(27), within=alone, state=state)
    assert isinstance(state, Leaving)
    assert Withdraw not in kinds(actions)


def test_the_lease_is_renewed_in_every_state_in_which_a_generator_lives() -> None:
    draining, _ = play(Tick(at(35)), state=loading())
    collecting, _ = play(drained(36), state=draining)
    for state, start in ((loading(), 11.0), (draining, 35.0), (collecting, 36.0)):
        _, actions = play(*(Tick(at(start + step / 20)) for step in range(1, 81)), state=state)
        renewed = [action.at.mono for action in actions if isinstance(action, Renew)]
        gaps = [later - earlier for earlier, later in zip([start, *renewed], renewed, strict=False)]
        assert max(gaps) <= 1.06, type(state)


def test_a_ramp_is_ordered_once_a_second() -> None:
    from controller.plans.plan import Ramp
    from tests.controller.builders import seconds

    ramp = limits([Ramp("up", 0, 100, seconds(10))])
    events = (PreflightPassed(at(0)), says(0, HELLO), Scraped(at(0)))
    state, _ = play(*events, within=ramp)
    _, actions = play(*(Tick(at(step / 20)) for step in range(1, 80)), within=ramp, state=state)
    users = [action.order.users for action in actions if isinstance(action, Give)]
    assert users == [10, 20, 30]


def test_a_stop_rule_drains_and_names_itself() -> None:
    state, actions = play(RuleHeld(at(12), "error_ratio > 20% for 10s"), state=loading())
    assert isinstance(state, Draining)
    assert (state.outcome, state.reason) == (Outcome.STOPPED_BY_RULE, "stop rule held: error_ratio > 20% for 10s")
    assert kinds(actions) == [Renew, Give, DrainGenerator]


def test_an_interrupt_drains_first_and_a_second_one_kills() -> None:
    state, _ = play(Interrupted(at(12), "SIGINT"), state=loading())
    assert isinstance(state, Draining)
    state, actions = play(Interrupted(at(13), "SIGINT"), state=state)
    assert state == Ended(Outcome.STOPPED_BY_PERSON, "stopped by SIGINT")
    assert kinds(actions) == [CloseSlot, Withdraw, KillGenerator]


@pytest.mark.parametrize("event", [GeneratorGone(at(12), "killed"), says(12, Fault("no worker is left", fatal=True))])
def test_a_lost_generator_is_a_crash_and_its_slot_ends(event: Event) -> None:
    state, actions = play(event, state=loading())
    assert isinstance(state, Ended)
    assert state.outcome is Outcome.CRASHED
    assert kinds(actions) == [CloseSlot, Withdraw, KillGenerator]


def test_an_order_without_answer_breaks_the_run() -> None:
    state, actions = play(Tick(at(15)), Tick(at(20.1)), state=loading())
    assert state == Ended(Outcome.CRASHED, "the generator did not answer order 2 (steady)")
    assert KillGenerator in kinds(actions)


def test_a_fault_that_is_not_fatal_is_noted() -> None:
    state, actions = play(says(12, Fault("worker 1 was lost", fatal=False)), state=loading())
    assert isinstance(state, Loading)
    assert actions == [Note("worker 1 was lost")]


def test_the_hard_deadline_ends_any_state() -> None:
    for state in (Preparing(), Starting(0.0), loading(), play(Tick(at(35)), state=loading())[0]):
        ended, _ = play(Tick(at(1000.1)), state=state)
        assert ended == Ended(Outcome.CRASHED, "the run outlived its hard deadline")


def test_figures_that_prometheus_never_fetched_are_said_to_be_missing() -> None:
    collecting, _ = play(Tick(at(35)), drained(36), state=loading())
    state, actions = play(Tick(at(56.1)), state=collecting)
    assert isinstance(state, Collecting)
    assert state.withdrawn
    assert Note in kinds(actions)
    assert Withdraw in kinds(actions)
    state, _ = play(Tick(at(77)), state=state)
    assert isinstance(state, Leaving)


def test_a_generator_that_does_not_leave_is_killed() -> None:
    state, actions = play(Tick(at(6)), state=Leaving(0.0, Outcome.COMPLETED, "done"))
    assert state == Ended(Outcome.COMPLETED, "done")
    assert actions == [KillGenerator()]


def test_a_refused_target_ends_the_run_before_a_process_starts() -> None:
    state, actions = play(PreflightRefused(at(0), "nothing listens"))
    assert state == Ended(Outcome.REFUSED, "nothing listens")
    assert actions == []


def test_every_state_survives_every_event() -> None:
    draining = play(Tick(at(35)), state=loading())[0]
    collecting = play(drained(36), state=draining)[0]
    leaving, ended = Leaving(0.0, Outcome.COMPLETED, ""), Ended(Outcome.COMPLETED, "")
    arming = play(PreflightPassed(at(0)), says(1, HELLO))[0]
    states: list[State] = [Preparing(), Starting(0.0), arming, loading(), draining, collecting, leaving, ended]
    events: list[Event] = [Tick(at(40)), PreflightPassed(at(40)), Scraped(at(40)), Withdrawn(at(40))]
    events += [PreflightRefused(at(40), "x"), RuleHeld(at(40), "x"), Interrupted(at(40), "x"), Broken(at(40), "x")]
    events += [GeneratorGone(at(40), "x"), says(40, HELLO), acked(40, 99), drained(40)]
    for state in states:
        for event in events:
            after, _ = advance(state, event, limits())
            assert not (isinstance(state, Ended) and after != state)
