"""The grammar of objectives and stop rules: text to `Criterion` and `StopRule`, slips shown with their position.

objective  =  indicator operator bound            p99 <= 50ms, error_ratio < 1%, throughput >= 500/s
stop rule  =  indicator operator bound for time   error_ratio > 20% for 10s
           |  generator saturated for time        generator saturated for 15s
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches

from controller.plans.criterion import QUANTILES, Criterion, Indicator, Operator, StopRule
from controller.plans.duration import format_duration, parse_duration

OBJECTIVE_FORM = "write it like p99 <= 50ms, error_ratio < 1% or throughput >= 500/s"
STOP_FORM = "write it like error_ratio > 20% for 10s, p99 > 2s for 30s or generator saturated for 15s"

HELD_LEAST, HELD_MOST = timedelta(seconds=1), timedelta(minutes=30)

_LATENCY = {"us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "m": Decimal(60)}
_RATIO = {"%": Decimal("0.01")}
_RATE = {"/s": Decimal(1)}
_LATENCY_MOST = 3600.0
_RATIOS = (Indicator.ERROR_RATIO, Indicator.TIMEOUT_RATIO, Indicator.DEGRADED_RATIO)
_UPWARD = (Operator.GT, Operator.GE)


@dataclass(slots=True)
class _Cursor:
    text: str
    at: int = 0

    def take(self, pattern: str, wanted: str) -> str:
        """The next piece, which must look like `pattern`; `wanted` says what it is in the error sentence."""
        blank = re.compile(r"\s*").match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            rest = self.text[self.at :].split(" ")[0]
            where = f"at character {self.at + 1}, {rest!r}" if rest else "at its end"
            raise ValueError(f"{where}: {wanted} is wanted")
        self.at = found.end()
        return found[0]

    def fail(self, piece: str, message: str) -> ValueError:
        """An error about the piece that was just taken."""
        return ValueError(f"at character {self.at - len(piece) + 1}, {piece!r}: {message}")


def parse_objective(text: str) -> Criterion:
    """What must hold in every measured window. Raises `ValueError(message, remedy)`."""
    cursor = _Cursor(text)
    try:
        criterion = _saturated(cursor) or _criterion(cursor)
        cursor.take(r"$", "the end of the text")
    except ValueError as error:
        raise ValueError(f"{text}: {error.args[0]}", (*error.args, OBJECTIVE_FORM)[1]) from error
    if criterion.indicator is Indicator.SATURATION:
        message = f"{text}: saturation makes a verdict invalid by itself and is no objective"
        raise ValueError(message, "use the stop rule generator saturated for 15s")
    upward = criterion.operator in _UPWARD
    if upward != (criterion.indicator is Indicator.THROUGHPUT):
        limit, operators = ("an upper", "< or <=") if upward else ("a lower", "> or >=")
        raise ValueError(f"{text}: {criterion.indicator} needs {limit} bound to be an objective", f"use {operators}")
    return criterion


def parse_stop_rule(text: str) -> StopRule:
    """What, held for its time, ends the run. Raises `ValueError(message, remedy)`."""
    cursor = _Cursor(text)
    try:
        criterion = _saturated(cursor) or _criterion(cursor)
        cursor.take(r"for\b", "`for` and a duration")
        held = parse_duration(cursor.take(r"\S+", "a duration such as 10s"))
        cursor.take(r"$", "the end of the text")
    except ValueError as error:
        raise ValueError(f"{text}: {error.args[0]}", (*error.args, STOP_FORM)[1]) from error
    if not HELD_LEAST <= held <= HELD_MOST:
        limits = f"{format_duration(HELD_LEAST)} to {format_duration(HELD_MOST)}"
        raise ValueError(f"{text}: {format_duration(held)} is outside {limits}", "choose a duration inside")
    if (criterion.operator in _UPWARD) == (criterion.indicator is Indicator.THROUGHPUT):
        raise ValueError(f"{text}: would stop a run that is doing well", "turn the operator round")
    return StopRule(text, criterion, held)


def _saturated(cursor: _Cursor) -> Criterion | None:
    if not re.match(r"\s*generator\b", cursor.text):
        return None
    cursor.take("generator", "generator")
    cursor.take(r"saturated\b", "saturated")
    return Criterion(cursor.text[: cursor.at].strip(), Indicator.SATURATION, Operator.GE, 1.0)


def _criterion(cursor: _Cursor) -> Criterion:
    begin = cursor.at
    word = cursor.take(r"[A-Za-z_][A-Za-z0-9_.]*", "an indicator")
    if word not in list(Indicator):
        raise cursor.fail(word, _unknown(word))
    indicator = Indicator(word)
    sign = cursor.take(r"[<>=!~]+", "one of < <= > >=")
    if sign not in list(Operator):
        raise cursor.fail(sign, "is not one of < <= > >=")
    bound = _bound(cursor, indicator)
    criterion = Criterion(cursor.text[begin : cursor.at].strip(), indicator, Operator(sign), bound)
    _require_sense(criterion)
    return criterion


def _unknown(word: str) -> str:
    if re.fullmatch(r"[pP][0-9._]+", word):
        return f"quantiles known here are {', '.join(QUANTILES)}"
    near = get_close_matches(word.lower(), list(Indicator), n=1)
    return f"is not an indicator; did you mean {near[0]}?" if near else f"indicators are {', '.join(Indicator)}"


def _bound(cursor: _Cursor, indicator: Indicator) -> float:
    units = _units(indicator)
    example = {"ms": "50ms", "%": "1%", "/s": "500/s"}
    wanted = next((text for unit, text in example.items() if unit in units), "1")
    number = cursor.take(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", f"a number such as {wanted}")
    if not units:
        return float(number)
    unit = cursor.take(r"[A-Za-z%/]*", "a unit")
    if unit not in units:
        raise cursor.fail(number + unit, f"{indicator} needs a bound with a unit, such as {wanted}")
    return float(Decimal(number) * units[unit])


def _units(indicator: Indicator) -> Mapping[str, Decimal]:
    match indicator:
        case Indicator.ERROR_RATIO | Indicator.TIMEOUT_RATIO | Indicator.DEGRADED_RATIO:
            return _RATIO
        case Indicator.THROUGHPUT:
            return _RATE
        case Indicator.SATURATION:
            return {}
        case _:
            return _LATENCY


def _require_sense(criterion: Criterion) -> None:
    """Refuse what is always or never so, whatever the target does."""
    remedy = "choose another bound"
    most = 1.0 if criterion.indicator in _RATIOS else float("inf")
    operator, bound = criterion.operator, criterion.bound
    if bound > most:
        raise ValueError("a ratio is never above 100%", remedy)
    if (operator is Operator.LT and bound == 0) or (operator is Operator.GT and bound == most):
        raise ValueError("can never hold", remedy)
    if (operator is Operator.GE and bound == 0) or (operator is Operator.LE and bound == most):
        raise ValueError("always holds", remedy)
    latency = _units(criterion.indicator) is _LATENCY
    if latency and (bound == 0 or bound > _LATENCY_MOST):
        raise ValueError("a latency lies between 0 and 60m", remedy)
