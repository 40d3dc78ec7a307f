"""What a plan can say about answers beside their status: marks of a fallback, and known answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Degraded:
    """The mark of a fallback's answer: a top-level JSON field or a header, with this value (None: whatever it says)."""

    field: str | None = None
    header: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """Known answers: line n of `file` (JSON) is what payload n of the pool has to be answered with.

    Numbers may differ by `tolerance`, absolute or relative to the expected one, whichever is larger.
    """

    file: Path
    tolerance: float = 1e-6
