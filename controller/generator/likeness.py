"""Is an answer the one that was expected? Structure and texts exactly, numbers within a tolerance."""

from __future__ import annotations

import math
from typing import Any


def alike(expected: Any, found: Any, tolerance: float) -> bool:
    """Whether `found` has every field of `expected` with a like value; `tolerance` is absolute or relative to the
    expected number, whichever allows more. Fields that are not expected do not matter; NaN is like NaN."""
    match expected, found:
        case bool() | None, _:
            return expected is found
        case int() | float(), bool():
            return False
        case int() | float(), int() | float():
            if math.isnan(expected):
                return math.isnan(found)
            return math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance)
        case dict(), dict():
            return all(name in found and alike(value, found[name], tolerance) for name, value in expected.items())
        case list(), list():
            return len(expected) == len(found) and all(
                alike(one, other, tolerance) for one, other in zip(expected, found, strict=True)
            )
        case _:
            return bool(expected == found)
