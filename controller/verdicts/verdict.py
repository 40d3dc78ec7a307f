"""What does a run mean? Pass, fail, inconclusive or invalid, from evidence alone, with every reason kept.

Each objective is held against each window by the window's interval: wholly on the good side passes, wholly on the bad
side fails, a limit inside the interval is inconclusive. What the instrument did comes first: figures of a window in
which it cannot be trusted are invalid, whatever they say. The gravest ruling is the run's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from controller.exit_codes import ExitCode
from controller.figures.enough import forecast, margin
from controller.figures.measurement import Absent, Measured, Measurement
from controller.figures.window import Window
from controller.figures.wording import interval, measurement, span
from controller.outcome import Outcome
from controller.plans.criterion import Criterion, Indicator, Operator
from controller.verdicts import validity
from controller.verdicts.evidence import Evidence
from controller.verdicts.reasons import Reason, ReasonKind, Ruling, worst


@dataclass(frozen=True, slots=True)
class ObjectiveResult:
    """One objective held against one window. `margin`: distance to the limit as a share of it, positive is good."""

    objective: str
    indicator: Indicator
    slot: int
    stage: str
    ruling: Ruling
    measured: Measurement
    margin: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The run's ruling, why it is not a pass (gravest first), and the objectives window by window."""

    ruling: Ruling
    reasons: tuple[Reason, ...]
    objectives: tuple[ObjectiveResult, ...]

    def of_window(self, slot: int) -> Ruling:
        """The ruling of one window, by its own reasons and objectives."""
        own = [reason.ruling for reason in self.reasons if reason.slot == slot]
        return worst([*own, *(result.ruling for result in self.objectives if result.slot == slot)])


def judge(evidence: Evidence, further: Iterable[Reason] = ()) -> Verdict:
    """The verdict on a run; pure. `further` are reasons found outside, such as an archive that does not fit."""
    books = (*validity.book_reasons(evidence.generator), *further)
    reasons: list[Reason] = list(books)
    results: list[ObjectiveResult] = []
    trusted: list[str] = []
    for window in evidence.windows:
        broken = validity.window_reasons(window, evidence.generator)
        reasons.extend(broken)
        untrusted = any(reason.ruling is Ruling.INVALID for reason in (*broken, *books))
        trusted.extend([] if untrusted or window.cut_short else [window.name])
        for criterion in evidence.objectives:
            result, reason = _hold(criterion, window, untrusted=untrusted)
            results.append(result)
            reasons.extend([reason] if reason else [])
    reasons.extend(_about_the_run(evidence, trusted))
    order = list(Ruling)
    reasons.sort(key=lambda reason: -order.index(reason.ruling))
    return Verdict(worst(reason.ruling for reason in reasons), tuple(reasons), tuple(results))


def exit_code(outcome: Outcome, verdict: Verdict) -> ExitCode:
    """The exit status: how a run ended comes first; only a completed run is judged by its verdict."""
    match outcome:
        case Outcome.COMPLETED:
            return _BY_RULING[verdict.ruling]
        case Outcome.STOPPED_BY_RULE:
            return ExitCode.STOPPED
        case Outcome.STOPPED_BY_PERSON:
            return ExitCode.INTERRUPTED
        case Outcome.CRASHED | Outcome.ABANDONED:
            return ExitCode.BROKEN
        case Outcome.REFUSED:
            return ExitCode.TARGET


_BY_RULING = {
    Ruling.PASS: ExitCode.PASS,
    Ruling.FAIL: ExitCode.FAIL,
    Ruling.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    Ruling.INVALID: ExitCode.INVALID,
}


def _about_the_run(evidence: Evidence, trusted: Sequence[str]) -> Iterator[Reason]:
    """What keeps a run as a whole from being a pass: nothing asked, nothing measured, not finished."""
    if evidence.outcome is not Outcome.COMPLETED:
        speaks = f"it can speak only of {', '.join(trusted)}" if trusted else "it can speak of no window"
        yield _inconclusive(ReasonKind.NOT_COMPLETED, None, f"{evidence.because}; {speaks}", "run again to the end")
    if not evidence.objectives:
        advice = "give the plan objectives, for example `p99 <= 50ms` and `error_ratio < 1%`"
        yield _inconclusive(
            ReasonKind.NO_OBJECTIVES, None, "the plan has no objectives to hold the run against", advice
        )
    if not evidence.planned:
        advice = "give the plan a stage in phase steady, such as a hold, soak or staircase"
        yield _inconclusive(ReasonKind.NO_WINDOW, None, "the plan has no steady stage, so nothing is measured", advice)
    begun = {window.slot for window in evidence.windows}
    for planned in evidence.planned:
        if planned.slot not in begun:
            sentence = f"{planned.name}: its window of {span(planned.seconds)} was not measured"
            yield _inconclusive(ReasonKind.NOT_REACHED, planned.slot, sentence, "run again to the end")
    for window in evidence.windows:
        if window.cut_short:
            sentence = f"{window.name}: measured for {span(window.seconds)} of {span(window.planned_seconds)} only"
            yield _inconclusive(ReasonKind.CUT_SHORT, window.slot, sentence, "run again to the end")


def _hold(criterion: Criterion, window: Window, *, untrusted: bool) -> tuple[ObjectiveResult, Reason | None]:
    """One objective against one window, and the reason if it did not pass by itself."""
    measured = window.indicators[criterion.indicator]
    reason = _reason(criterion, window, measured)
    ruling = reason.ruling if reason else Ruling.PASS
    sentence = reason.sentence if reason else f"{window.name}: {_seen(criterion, measured)}"
    result = ObjectiveResult(
        criterion.text,
        criterion.indicator,
        window.slot,
        window.stage,
        ruling,
        measured,
        margin(criterion, measured),
        sentence,
    )
    if untrusted and ruling is not Ruling.INVALID:
        said = f"{sentence}; but these figures cannot be trusted"
        return replace(result, ruling=Ruling.INVALID, sentence=said), None
    return result, reason


def _reason(criterion: Criterion, window: Window, measured: Measurement) -> Reason | None:
    said, wanted = f"{window.name}: {_seen(criterion, measured)}", f"asked is {criterion.text}"
    match measured:
        case Absent(n=0):
            advice = "see the outcomes: without an answer there is no latency and no rate"
            return _inconclusive(ReasonKind.UNKNOWN, window.slot, f"{said}; {wanted}", advice)
        case Absent():
            advice = forecast(criterion, window)
            return _inconclusive(ReasonKind.TOO_FEW, window.slot, f"{said}; {wanted}", advice)
        case Measured(low=low, high=high):
            good, bad = _ends(criterion.operator, low, high)
            if good is not None and criterion.operator.holds(good, criterion.bound):
                return None
            if bad is not None and not criterion.operator.holds(bad, criterion.bound):
                return _missed(criterion, window, f"{said}; {wanted}")
            sentence = f"{said}; the limit of {criterion.text} lies inside"
            return _inconclusive(ReasonKind.STRADDLES, window.slot, sentence, forecast(criterion, window))


def _ends(operator: Operator, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """The end that must hold for a pass, and the end that must not hold for a fail."""
    return (high, low) if operator in (Operator.LT, Operator.LE) else (low, high)


def _missed(criterion: Criterion, window: Window, sentence: str) -> Reason:
    """A missed limit fails; of the generator's own saturation it is the instrument that failed, not the target."""
    if criterion.indicator is Indicator.SATURATION:
        advice = "give the generator more workers or another machine"
        return Reason(ReasonKind.SATURATED, Ruling.INVALID, window.slot, sentence, advice)
    advice = "look at it in the report: server histogram, queue and hardware on the same time axis"
    return Reason(ReasonKind.OBJECTIVE_MISSED, Ruling.FAIL, window.slot, sentence, advice)


def _seen(criterion: Criterion, measured: Measurement) -> str:
    """`p99 is 48.2 ms (95 % sure: 46.1 ms to 52.3 ms, n=1,200)`."""
    name = criterion.indicator.value
    if isinstance(measured, Absent):
        return f"{name} is unknown: {measured.reason}"
    bounds = interval(criterion.indicator, measured)
    sure = f"95 % sure: {bounds}, " if bounds else ""
    return f"{name} is {measurement(criterion.indicator, measured)} ({sure}n={measured.n:,})"


def _inconclusive(kind: ReasonKind, slot: int | None, sentence: str, advice: str) -> Reason:
    return Reason(kind, Ruling.INCONCLUSIVE, slot, sentence, advice)
