"""Why a verdict is not a plain pass: the closed list of reasons, each with its rank, a sentence and a way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Ruling(StrEnum):
    """What a window, an objective or a run means, mildest first."""

    PASS = "pass"  # noqa: S105 - not a password
    INCONCLUSIVE = "inconclusive"  # not enough evidence
    FAIL = "fail"
    INVALID = "invalid"  # the instrument cannot be trusted


def worst(rulings: Iterable[Ruling]) -> Ruling:
    """The gravest: invalid before fail before inconclusive before pass."""
    order = list(Ruling)
    return max(rulings, key=order.index, default=Ruling.PASS)


class ReasonKind(StrEnum):
    """Every reason there is."""

    SATURATED = "saturated"
    HEALTH_UNKNOWN = "health_unknown"
    WORKER_LOST = "worker_lost"
    REPORTS_LOST = "reports_lost"
    TOTALS_DIFFER = "totals_differ"
    ARCHIVE_DIFFERS = "archive_differs"
    USERS_SHORT = "users_short"
    NOTHING_ENDED = "nothing_ended"
    GENERATOR_ERRORS = "generator_errors"
    OBJECTIVE_MISSED = "objective_missed"
    STRADDLES = "straddles"
    TOO_FEW = "too_few"
    UNKNOWN = "unknown"
    CUT_SHORT = "cut_short"
    NOT_REACHED = "not_reached"
    NOT_COMPLETED = "not_completed"
    NOT_DRAINED = "not_drained"
    NO_OBJECTIVES = "no_objectives"
    NO_WINDOW = "no_window"


@dataclass(frozen=True, slots=True)
class Reason:
    """`sentence` says what was seen, `advice` what to do; `slot` is the window's slot, None: the whole run."""

    kind: ReasonKind
    ruling: Ruling
    slot: int | None
    sentence: str
    advice: str
