"""Why a verdict is not a plain pass: the closed list of reasons, each with its rank, a sentence and a way out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from controller.breakdown import FAILED, GOOD, REASONS, VERSIONS, Breakdown


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
    TARGET_CHANGED = "target_changed"
    USERS_SHORT = "users_short"
    BEHIND_SCHEDULE = "behind_schedule"
    RATE_OFF = "rate_off"
    NO_RIGHT_TO_SEND = "no_right_to_send"
    ARRIVALS_DROPPED = "arrivals_dropped"
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


TARGET_CHANGED = "target_changed"
"""Key in a record's `extra`: what the target said of itself before and after, when the two differ."""


MODEL_VERSIONS = "model_versions"
"""The same: answers by the version of the model that gave them, where answers say it (gRPC)."""

REQUEST_NAMES = "request_names"
"""The same: good and failed requests by name, where requests have names (locustfiles)."""

FAILURES = "failures"
"""The same: failed requests by reason."""


def told_facts(told: Breakdown) -> dict[str, Any]:
    """What goes into a record's `extra` of what the workers counted beside outcomes."""
    good, failed = told.get(GOOD, {}), told.get(FAILED, {})
    names = {name: {"good": good.get(name, 0), "failed": failed.get(name, 0)} for name in {**good, **failed}}
    tables = {MODEL_VERSIONS: told.get(VERSIONS), REQUEST_NAMES: names, FAILURES: told.get(REASONS)}
    return {key: dict(table) for key, table in tables.items() if table}


def target_reasons(extra: Mapping[str, Any]) -> tuple[Reason, ...]:
    """A target that became another one during the run makes its figures those of neither."""
    changed, versions = extra.get(TARGET_CHANGED), extra.get(MODEL_VERSIONS, {})
    if changed is None and len(versions) < 2:
        return ()
    if changed is not None:
        sentence = f"the target changed during the run: before {changed['before']}, after {changed['after']}"
    else:
        by = " and ".join(f"{number:,} by version {version}" for version, number in versions.items())
        sentence = f"the model changed during the run: answers were given {by}"
    advice = "see that nobody deploys to the target during a run; then run again"
    return (Reason(ReasonKind.TARGET_CHANGED, Ruling.INVALID, None, sentence, advice),)
