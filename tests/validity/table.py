"""Every case of the matrix, by name."""

from __future__ import annotations

from tests.validity.case import Case
from tests.validity.healthy import HEALTHY
from tests.validity.poisoned import POISONED
from tests.validity.slow_servers import SLOW

CASES: dict[str, Case] = {case.name: case for case in (*HEALTHY, *POISONED, *SLOW)}

SAMPLE = (
    ("brisk_users", "killed_worker"),
    ("rate_200", "encoding"),
    ("slow_constant", "gil_hog"),
)
"""Those that belong to the tests, in pairs that run side by side; none of them needs root."""
