"""Can the figures be trusted? Each rule looks at the instrument, never at the target, and has its number here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from controller.figures.disturbance import Disturbance
from controller.figures.health import MISSING_SECONDS
from controller.figures.limited import SHORT_SHARE
from controller.figures.window import Window
from controller.figures.wording import digits, span
from controller.verdicts.evidence import GeneratorFacts
from controller.verdicts.open_loop import OPEN_LOOP_RULES
from controller.verdicts.reasons import Reason, ReasonKind, Ruling
from controller.verdicts.remedies import remedy
from controller.verdicts.telling import told

UNKNOWN_SHARE = 0.05
"""More than this share of a window without a reading of the generator's state: unknown is not healthy."""

GENERATOR_ERROR_RATIO = 0.001
"""More than this share of the window's requests lost by the generator itself: no statement about rare events holds."""


MOST_SIGNALS = 3
"""Signals that are told of a saturated window; the rest is in the record."""


def window_reasons(window: Window, generator: GeneratorFacts) -> tuple[Reason, ...]:
    """Every rule that the window breaks."""
    return tuple(reason for rule in RULES for reason in rule(window, generator))


def _saturated(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """A worker at its limit (saturation >= 1) for more than `SATURATED_SHARE` of the observed time: one reason a
    signal, that with the most seconds first, each with what to do about that signal."""
    health = window.health
    if not health.saturated:
        return
    by_signal: dict[str, list[Disturbance]] = {}
    for found in window.disturbances:
        by_signal.setdefault(found.signal, []).append(found)
    if not by_signal:  # a record from before disturbances were kept
        by_signal = {health.worst_signal.partition(" of ")[0]: []}
    time = f"{span(health.saturated_seconds)} of {span(health.observed_seconds)}"
    gravest = sorted(by_signal, key=lambda name: (-max((one.seconds for one in by_signal[name]), default=0.0), name))
    for number, signal in enumerate(gravest[:MOST_SIGNALS]):
        what = remedy(signal)
        seen = (
            told(by_signal[signal])
            or f"{health.worst_signal} at {digits(health.worst_saturation or 0)} times its limit"
        )
        limited = f"the generator was at its own limit for {time}: " if number == 0 else "at the same time "
        sentence = f"{limited}{what.means}: {seen}"
        bound = "; what was measured is at best a lower bound of what the target can" if number == 0 else ""
        yield _invalid(ReasonKind.SATURATED, window, sentence, what.act + bound)


def _health_unknown(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """No reading of a worker's state for more than `UNKNOWN_SHARE` of the observed time, or nothing observed at all."""
    health = window.health
    if health.observed_seconds <= 0 or health.unknown_seconds > UNKNOWN_SHARE * health.observed_seconds:
        yield _invalid(
            ReasonKind.HEALTH_UNKNOWN,
            window,
            f"the generator's own state is unknown for {span(health.unknown_seconds)} of "
            f"{span(health.observed_seconds)} observed",
            "see locust.log for workers that did not report; make the window at least three seconds long",
        )


def _worker_lost(window: Window, generator: GeneratorFacts) -> Iterator[Reason]:
    """A worker without a fresh report, or fewer workers than the plan has, at any moment of the window."""
    health = window.health
    fewest = health.least_workers
    if health.lost_workers or (fewest is not None and fewest < generator.workers):
        who = ", ".join(health.lost_workers) or "not named"
        yield _invalid(
            ReasonKind.WORKER_LOST,
            window,
            f"only {fewest if fewest is not None else 0} of {generator.workers} workers reported at some moment "
            f"(lost: {who}): load and counts are short",
            "see locust.log and the machine's memory and CPU limits; then run again",
        )


def _reports_lost(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """More than `MISSING_SECONDS` of the window between two reports of the generator."""
    missing = window.health.missing_seconds
    if missing > MISSING_SECONDS:
        yield _invalid(
            ReasonKind.REPORTS_LOST,
            window,
            f"no report of the generator covers {span(missing)}",
            "see locust.log for a stalled master; then run again",
        )


def _users_short(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """Users off target by more than 1 % for more than `SHORT_SHARE` of the observed time."""
    health = window.health
    if health.short_seconds > SHORT_SHARE * health.observed_seconds:
        yield _invalid(
            ReasonKind.USERS_SHORT,
            window,
            f"the asked {window.users} users were not running for {span(health.short_seconds)} of "
            f"{span(health.observed_seconds)} (fewest: {health.least_users})",
            "give the stage more time before its window (discard), or the generator more workers",
        )


def _nothing_ended(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """Load was asked for, and not one request of the window ended."""
    if (window.users > 0 or window.loop == "open") and window.ended == 0:
        who = f"{window.users} users" if window.loop == "closed" else "an open loop"
        yield _invalid(
            ReasonKind.NOTHING_ENDED,
            window,
            f"{who} should have sent requests for {span(window.seconds)}, and none ended",
            "make the window longer than the request timeout; see locust.log",
        )


def _generator_errors(window: Window, _generator: GeneratorFacts) -> Iterator[Reason]:
    """More than `GENERATOR_ERROR_RATIO` of the window's requests ended as `generator_error`."""
    lost = window.outcomes.get("generator_error", 0)
    if lost > GENERATOR_ERROR_RATIO * window.ended:
        yield _invalid(
            ReasonKind.GENERATOR_ERRORS,
            window,
            f"{lost:,} of {window.ended:,} requests failed inside the generator, not at the target",
            "see locust.log: open files, ephemeral ports and name resolution are the usual causes",
        )


Rule = Callable[[Window, GeneratorFacts], Iterator[Reason]]

RULES: tuple[Rule, ...] = (
    _saturated,
    _health_unknown,
    _worker_lost,
    _reports_lost,
    _users_short,
    _nothing_ended,
    _generator_errors,
    *OPEN_LOOP_RULES,
)
"""One line a rule; a new rule is a function and a line here."""


def book_reasons(generator: GeneratorFacts) -> tuple[Reason, ...]:
    """Whether the generator's books agree with themselves: every request that it ended must be in the intervals.

    Requests aborted at the end of the drain may be in the final totals only. Without final totals nothing is proven.
    """
    counted = sum(generator.counted.values())
    if generator.drained is None:
        sentence = f"the generator never gave its final totals: the {counted:,} requests counted may not be all"
        return (Reason(ReasonKind.NOT_DRAINED, Ruling.INCONCLUSIVE, None, sentence, "see locust.log; then run again"),)
    differences = [
        f"{outcome}: {generator.counted.get(outcome, 0):,} reported, {total:,} in total"
        for outcome, total in generator.drained.items()
        if not _agree(outcome, generator.counted.get(outcome, 0), total, generator.aborted)
    ]
    if counted < generator.reported:
        differences.append(f"all outcomes: {counted:,} reported in detail, {generator.reported:,} by its running count")
    if not differences:
        return ()
    sentence = "the generator's reports do not add up to its final totals (" + "; ".join(differences) + ")"
    return (_run_invalid(sentence),)


def _agree(outcome: str, counted: int, total: int, aborted: int) -> bool:
    return counted == total or (outcome == "generator_error" and counted == total - aborted)


def _run_invalid(sentence: str) -> Reason:
    advice = "reports were lost between the generator's processes; see locust.log, then run again"
    return Reason(ReasonKind.TOTALS_DIFFER, Ruling.INVALID, None, sentence, advice)


def _invalid(kind: ReasonKind, window: Window, sentence: str, advice: str) -> Reason:
    return Reason(kind, Ruling.INVALID, window.slot, f"{window.name}: {sentence}", advice)
