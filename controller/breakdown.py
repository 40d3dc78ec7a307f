"""Requests told apart otherwise than by outcome: by name, by the model's version that answered, by why they failed.

Names and reasons come from other people's code and servers: every table has a bound, and one entry for the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

VERSIONS: Final = "versions"
GOOD: Final = "good"
FAILED: Final = "failed"
REASONS: Final = "reasons"

TABLES = (VERSIONS, GOOD, FAILED, REASONS)
"""Answers by version of the model, good and failed requests by name, failed requests by reason."""

MOST_ENTRIES = 50
"""Of a table; what is seldom goes into the rest."""

REST = "other"

Breakdown = Mapping[str, Mapping[str, int]]
"""By table and entry; a table without entries may be missing."""


def together(parts: Iterable[Breakdown]) -> dict[str, dict[str, int]]:
    """The sum of all, most frequent first, in as many entries as a table may have."""
    sums = {table: Counter[str]() for table in TABLES}
    for part in parts:
        for table, entries in part.items():
            sums[table].update(entries)
    return {table: _bounded(counts) for table, counts in sums.items() if counts}


def _bounded(counts: Counter[str]) -> dict[str, int]:
    rest = counts.pop(REST, 0)
    known = counts.most_common(MOST_ENTRIES)
    rest += sum(counts.values()) - sum(number for _, number in known)
    return dict(known) | ({REST: rest} if rest else {})
