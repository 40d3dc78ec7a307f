"""Time spans and rates as people write them: `5ms`, `1m30s`, `500/s`."""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import BeforeValidator

PER_SECOND = {"us": 1_000_000, "ms": 1_000, "s": 1, "m": 1 / 60, "h": 1 / 3600}
"""How many of a unit make a second; dividing keeps 9ms at exactly 0.009."""
PART = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h)")


def seconds(value: object) -> float:
    """Seconds of a duration: a number means seconds, text is parts of number and unit. Raises ValueError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
        if math.isfinite(number) and number >= 0:
            return number
    elif isinstance(value, str):
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
        if value and PART.sub("", value) == "":
            return sum(float(number) / PER_SECOND[unit] for number, unit in PART.findall(value))
    raise ValueError(f"{value!r} is not a duration like 5ms, 2s or 1m30s")


def per_second(value: object) -> float:
    """Events per second of a rate: a positive number, or text like `500/s` or `90/m`. Raises ValueError."""
    if isinstance(value, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:/(s|m|h))?", value)
        number = float(found[1]) * PER_SECOND[found[2] or "s"] if found else 0.0
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    else:
        number = 0.0
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{value!r} is not a rate like 500/s")
    return number


Seconds = Annotated[float, BeforeValidator(seconds)]
Rate = Annotated[float, BeforeValidator(per_second)]
