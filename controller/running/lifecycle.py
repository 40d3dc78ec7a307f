"""What to do next in a run: `advance(state, event) -> (state, actions)`; pure, time is in the events.

    Preparing -> Starting -> Arming -> Loading -> Draining -> Collecting -> Leaving -> Ended

Any state can be cut short by `Interrupted`, `RuleHeld`, `GeneratorGone` or the hard deadline; each way out takes the
longest tail that still makes sense, so that a request that left is counted and a slot that began also ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from controller.orders import LEASE_PERIOD, Drained, Fault, Hello
from controller.outcome import Outcome
from controller.running.happenings import (
    Action,
    Broken,
    Event,
    GeneratorGone,
    Instant,
    Interrupted,
    KillGenerator,
    LookForScrape,
    LookForWithdrawal,
    Note,
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
from controller.running.loading import begin_loading, end_loading, on_ack, on_tick
from controller.running.states import (
    Arming,
    Collecting,
    Draining,
    Ended,
    Leaving,
    Limits,
    Loading,
    Preparing,
    Starting,
    State,
)

Step = tuple[State, tuple[Action, ...]]


def advance(state: State, event: Event, limits: Limits) -> Step:
    """The next state and what must be done, in order. Total: an event that means nothing here changes nothing."""
    match event:
        case GeneratorGone() if isinstance(state, Leaving):
            return Ended(state.outcome, state.reason), ()
        case Interrupted() | Broken() | GeneratorGone():
            return _cut_short(state, event, limits)
        case RuleHeld(at=at, rule=rule) if isinstance(state, Loading):
            return end_loading(state, at, Outcome.STOPPED_BY_RULE, f"stop rule held: {rule}", limits)
        case Reported(report=Fault(what=what, fatal=True), at=at):
            return _cut_short(state, Broken(at, what), limits)
        case Reported(report=Fault(what=what)):
            return state, (Note(what),)
        case Tick(at=at) if at.mono > limits.deadline and not isinstance(state, Leaving | Ended):
            return _cut_short(state, Broken(at, "the run outlived its hard deadline"), limits)
        case _:
            return _in_order(state, event, limits)


def _in_order(state: State, event: Event, limits: Limits) -> Step:
    match state:
        case Preparing():
            return _prepare(state, event)
        case Starting():
            return _start(state, event, limits)
        case Arming():
            return _arm(state, event, limits)
        case Loading():
            return _load(state, event, limits)
        case Draining():
            return _drain(state, event, limits)
        case Collecting():
            return _collect(state, event, limits)
        case Leaving():
            return _leave(state, event, limits)
        case Ended():
            return state, ()
        case _:
            assert_never(state)


def _prepare(state: Preparing, event: Event) -> Step:
    match event:
        case PreflightPassed(at=at):
            return Starting(since=at.mono), (StartGenerator(),)
        case PreflightRefused(sentence=sentence):
            return Ended(Outcome.REFUSED, sentence), ()
        case _:
            return state, ()


def _start(state: Starting, event: Event, limits: Limits) -> Step:
    match event:
        case Reported(report=Hello() as hello, at=at):
            if not limits.metrics:
                return begin_loading(at, limits)
            arming = Arming(since=at.mono, leased=at.mono, looked=at.mono)
            return arming, (Renew(at), Publish(hello.metrics), LookForScrape(None))
        case Tick(at=at) if at.mono - state.since > limits.start_timeout:
            what = (
                f"the generator did not come up within {limits.start_timeout:.0f} s; see locust.log in the run folder"
            )
            return _cut_short(state, Broken(at, what), limits)
        case _:
            return state, ()


def _arm(state: Arming, event: Event, limits: Limits) -> Step:
    """Wait until Prometheus has scraped the generator once, so that every counter is seen at zero before load."""
    match event:
        case Scraped(at=at):
            return begin_loading(at, limits)
        case Tick(at=at) if at.mono - state.since > limits.scrape_timeout:
            loading, actions = begin_loading(at, limits)
            note = Note(
                f"Prometheus did not scrape the generator within {limits.scrape_timeout:.0f} s of its start: "
                "the first seconds of load may be missing from its series"
            )
            return loading, (note, *actions)
        case Tick(at=at):
            return _keep(state, at, LookForScrape(None))
        case _:
            return state, ()


def _load(state: Loading, event: Event, limits: Limits) -> Step:
    match event:
        case Tick(at=at):
            return on_tick(state, at, limits)
        case Reported() as reported:
            return on_ack(state, reported)
        case _:
            return state, ()


def _drain(state: Draining, event: Event, limits: Limits) -> Step:
    match event:
        case Reported(report=Drained() as drained, at=at):
            closing = state.slots.close(drained.at)
            if not limits.metrics:
                return Leaving(since=at.mono, outcome=state.outcome, reason=state.reason), (*closing, QuitGenerator())
            total = sum(drained.totals.values())
            collecting = Collecting(at.mono, state.outcome, state.reason, total, leased=at.mono, looked=at.mono)
            return collecting, (*closing, Renew(at), LookForScrape(total))
        case Reported() as reported:
            slots, actions = state.slots.acknowledged(reported)
            return replace(state, slots=slots), actions
        case Tick(at=at) if at.mono - state.since > limits.drain_timeout + limits.answer_timeout:
            return _cut_short(state, Broken(at, "the generator did not finish its drain in time"), limits)
        case Tick(at=at) if at.mono - state.leased >= LEASE_PERIOD:
            return replace(state, leased=at.mono), (Renew(at),)
        case _:
            return state, ()


def _collect(state: Collecting, event: Event, limits: Limits) -> Step:
    """Hold the drained generator until Prometheus has its last figures and has stopped scraping it."""
    match event:
        case Scraped(at=at):
            withdrawing = replace(state, since=at.mono, leased=at.mono, looked=at.mono, withdrawn=True)
            return withdrawing, (Withdraw(), Renew(at), LookForWithdrawal())
        case Withdrawn(at=at) if state.withdrawn:
            return Leaving(since=at.mono, outcome=state.outcome, reason=state.reason), (QuitGenerator(),)
        case Tick(at=at) if at.mono - state.since > limits.scrape_timeout and not state.withdrawn:
            note = Note("Prometheus did not fetch the generator's last figures in time: its series end early")
            withdrawing = replace(state, since=at.mono, leased=at.mono, looked=at.mono, withdrawn=True)
            return withdrawing, (note, Withdraw(), Renew(at), LookForWithdrawal())
        case Tick(at=at) if at.mono - state.since > limits.scrape_timeout:
            return Leaving(since=at.mono, outcome=state.outcome, reason=state.reason), (QuitGenerator(),)
        case Tick(at=at):
            look = LookForWithdrawal() if state.withdrawn else LookForScrape(state.total)
            return _keep(state, at, look)
        case _:
            return state, ()


def _leave(state: Leaving, event: Event, limits: Limits) -> Step:
    match event:
        case Tick(at=at) if at.mono - state.since > limits.answer_timeout:
            return Ended(state.outcome, state.reason), (KillGenerator(),)
        case _:
            return state, ()


def _keep(state: Arming | Collecting, at: Instant, look: Action) -> Step:
    """Renew the lease and look again, each once a second."""
    now = at.mono
    actions: list[Action] = []
    if now - state.leased >= LEASE_PERIOD:
        state = replace(state, leased=now)
        actions.append(Renew(at))
    if now - state.looked >= 1.0:
        state = replace(state, looked=now)
        actions.append(look)
    return state, tuple(actions)


def _cut_short(state: State, event: Interrupted | Broken | GeneratorGone, limits: Limits) -> Step:
    """The way out of each state when something ends the run early."""
    outcome, reason = _why(event)
    match state:
        case Ended():
            return state, ()
        case Leaving():
            return Ended(state.outcome, state.reason), (KillGenerator(),)
        case Preparing():
            return Ended(outcome, reason), ()
        case Loading() if isinstance(event, Interrupted):
            return end_loading(state, event.at, outcome, reason, limits)
        case Loading() | Draining():
            closing = state.slots.close(event.at.wall.timestamp())
            return Ended(outcome, reason), (*closing, Withdraw(), KillGenerator())
        case Starting() | Arming():
            return Ended(outcome, reason), (Withdraw(), KillGenerator())
        case Collecting():  # all figures are in: only Prometheus may miss the last ones
            note = Note(f"the run was cut short while Prometheus fetched the last figures: {reason}")
            return Ended(state.outcome, state.reason), (note, Withdraw(), KillGenerator())
        case _:
            assert_never(state)


def _why(event: Interrupted | Broken | GeneratorGone) -> tuple[Outcome, str]:
    match event:
        case Interrupted(by=by):
            return Outcome.STOPPED_BY_PERSON, f"stopped by {by}"
        case Broken(what=what):
            return Outcome.CRASHED, what
        case GeneratorGone(how=how):
            return Outcome.CRASHED, f"the generator ended by itself: {how}"
        case _:
            assert_never(event)
