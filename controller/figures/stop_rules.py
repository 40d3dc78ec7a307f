"""Has a stop rule held for its whole time? Judged on the series of seconds; unknown is never taken as held."""

from __future__ import annotations

from collections.abc import Sequence

from controller.figures.latency import GAP_SECONDS, LatencyLedger
from controller.figures.measurement import Measured
from controller.figures.seconds import Second
from controller.plans.criterion import Criterion, Operator, StopRule

FRESH_SECONDS = 3.0
"""A series whose newest second is older than this says nothing about now."""

JITTER_SECONDS = 0.1
"""Intervals are about one second long: ten of them may be this much shorter than ten seconds, and count as ten."""


def held_rule(rules: Sequence[StopRule], ledger: LatencyLedger, at: float | None = None) -> StopRule | None:
    """The first rule that has held without a break for its time as of `at` (epoch seconds), or None.

    Without `at` the newest second is now; a rule whose time has come is then found when its last second is reported.
    """
    return next((rule for rule in rules if held_for(rule.criterion, ledger.seconds, at) >= _needed(rule)), None)


def held_for(criterion: Criterion, seconds: Sequence[Second], at: float | None = None) -> float:
    """For how many seconds until `at` the criterion has held in every single one; 0 when it does not hold now.

    A second that is missing, or in which the indicator is unknown, breaks the time.
    """
    if not seconds or (at is not None and at - seconds[-1].end > FRESH_SECONDS):
        return 0.0
    begin = seconds[-1].end
    for row in reversed(seconds):
        if begin - row.end > GAP_SECONDS or not _holds(criterion, row):
            break
        begin = row.start
    return seconds[-1].end - begin


def _needed(rule: StopRule) -> float:
    """At least a moment: a rule for 0 s needs one second in which it holds."""
    return max(rule.held_for.total_seconds() - JITTER_SECONDS, JITTER_SECONDS)


def _holds(criterion: Criterion, row: Second) -> bool:
    """Whether it certainly holds: of a censored value only the least is known, which can satisfy `>` but never `<`."""
    measured = row.indicators.get(criterion.indicator)
    if not isinstance(measured, Measured) or (row.users == 0 and row.rate == 0):
        return False
    upwards = criterion.operator in (Operator.GT, Operator.GE)
    return (upwards or not measured.censored) and criterion.operator.holds(measured.value, criterion.bound)
