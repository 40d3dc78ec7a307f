"""Did an open loop keep its schedule? Rules like those of `validity`, for windows whose load is arrivals a second."""

from __future__ import annotations

import math
from collections.abc import Iterator

from controller.figures.limited import allowed_lateness, behind_schedule
from controller.figures.window import Window
from controller.figures.wording import latency
from controller.plans.criterion import Indicator
from controller.plans.rate import format_rate
from controller.verdicts.evidence import GeneratorFacts
from controller.verdicts.reasons import Reason, ReasonKind, Ruling

RATE_TOLERANCE = 0.01
"""Arrivals that came may differ by this share from those asked for, and by what chance does to a Poisson process, or by
what comes within a tenth of a second of a recorded one."""

LOST_SHARE = 0.001
"""More than this share of arrivals without a right to send: the load was not the one that was asked for."""

DROPPED_SHARE = 0.001
"""More than this share of arrivals without a free slot: nobody knows how long those would have taken."""


def _behind_schedule(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """Requests left later than they were due, by more than the latencies that are measured allow."""
    kept, p99 = window.punctuality, window.indicators[Indicator.P99]
    if kept is not None and kept.lateness_p99 is not None and behind_schedule(kept, p99):
        yield _invalid(
            ReasonKind.BEHIND_SCHEDULE,
            window,
            f"1 % of the requests left {latency(kept.lateness_p99)} or more after they were due, allowed are "
            f"{latency(allowed_lateness(p99))}: the generator was behind its schedule",
            "give it more workers or another machine; what the target was sent is at least what it can take",
        )


def _rate_off(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """Another number of arrivals than was asked for came due."""
    kept = window.punctuality
    if kept is None:
        return
    if kept.process == "recorded" and abs(window.seconds - window.planned_seconds) > RATE_TOLERANCE * window.seconds:
        return  # of a part of a recording nobody knows here how many requests it has
    asked = kept.asked * window.seconds
    chance = 4.0 * math.sqrt(asked) if kept.process == "poisson" else float(kept.burst)
    if abs(kept.due - asked) > RATE_TOLERANCE * asked + chance + 2.0:
        yield _invalid(
            ReasonKind.RATE_OFF,
            window,
            f"{asked:,.0f} arrivals were asked for, and {kept.due:,} came due",
            "see locust.log for workers that were lost or late; then run again",
        )


def _no_right_to_send(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """Arrivals that could not be sent because the lease was over."""
    kept = window.punctuality
    if kept is not None and kept.no_lease > LOST_SHARE:
        yield _invalid(
            ReasonKind.NO_RIGHT_TO_SEND,
            window,
            f"{kept.no_lease * 100:.1f} % of {kept.due:,} arrivals were not sent: the controller's lease was over",
            "see locust.log; the controller's machine was too busy to renew the lease",
        )


def _arrivals_dropped(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """The target held every slot. Not the generator's fault: then it would be late or saturated. But the dropped
    arrivals have no latency, so that no quantile can be better than unknown, while a missed one stays missed."""
    kept = window.punctuality
    if kept is not None and kept.no_slot > DROPPED_SHARE:
        sentence = (
            f"{window.name}: the target held all {kept.max_in_flight:,} slots, {kept.no_slot * 100:.1f} % of "
            f"{kept.due:,} arrivals found none and were dropped; it took {kept.sent / window.seconds:,.1f} of "
            f"{format_rate(kept.asked)}, and latencies are at least what is shown"
        )
        advice = "ask for less, or raise max_in_flight if more may wait"
        yield Reason(ReasonKind.ARRIVALS_DROPPED, Ruling.INCONCLUSIVE, window.slot, sentence, advice)


OPEN_LOOP_RULES = (_behind_schedule, _rate_off, _no_right_to_send, _arrivals_dropped)
"""One entry a rule."""


def _invalid(kind: ReasonKind, window: Window, sentence: str, advice: str) -> Reason:
    return Reason(kind, Ruling.INVALID, window.slot, f"{window.name}: {sentence}", advice)
