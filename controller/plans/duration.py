"""Durations as people write them: "1h30m" to timedelta and back."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

_MICROSECONDS = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|us|[dhms])")
_DIGITS = 15  # per number: far beyond any limit of a plan, and no arithmetic on endless digits

PATTERN = "^(?=.)" + "".join(rf"([0-9]+(\.[0-9]+)?{unit})?" for unit in _MICROSECONDS) + "$"
"""The same form as a regular expression, for the JSON Schema."""

FORM = "it with units, such as 90s, 1h30m or 250ms"
"""How to write one, for error sentences."""


def parse_duration(text: str) -> timedelta:
    """`1h30m`, `90s`, `2.5s`, `250ms`: units falling, each at most once, exact to the microsecond.

    Raises `ValueError` with a sentence that says what is wrong.
    """
    rest, total, last = text, 0, max(_MICROSECONDS.values()) + 1
    while rest:
        part = _PART.match(rest)
        if part is None or len(part[1]) > _DIGITS:
            raise ValueError(_complaint(text))
        size = _MICROSECONDS[part[2]]
        if size >= last:
            raise ValueError(f"{text} is not a duration: units must fall from left to right, each used once")
        last, exact = size, Decimal(part[1]) * size
        if exact != int(exact):
            raise ValueError(f"{text} is finer than a microsecond")
        total += int(exact)
        rest = rest[part.end() :]
    if not text:
        raise ValueError("an empty text is not a duration")
    try:
        return timedelta(microseconds=total)
    except OverflowError as error:
        raise ValueError(f"{text} is longer than any clock can count") from error


def _complaint(text: str) -> str:
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return f"{text} has no unit"
    if text.startswith("-"):
        return f"{text} is negative"
    return f"{text} is not a duration"


def format_duration(duration: timedelta) -> str:
    """The shortest text that `parse_duration` reads back exactly; negative durations have a leading minus."""
    left = duration // timedelta(microseconds=1)
    if left == 0:
        return "0s"
    text = "-" if left < 0 else ""
    left = abs(left)
    for unit, size in _MICROSECONDS.items():
        count, left = divmod(left, size)
        text += f"{count}{unit}" if count else ""
    return text
