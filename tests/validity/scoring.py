"""Was a run called what it is? Pure: from what was seen and what the record says to one row of the table.

A run is *flagged* when its verdict is `invalid` for a reason of the generator's, when preflight refused it for the
generator's sake, when a signal was at its limit for three seconds in a row on the page that alerts read, or when a hole
in its series was marked. One reading at the limit of a healthy run is shown in the row and is no flag.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.validity.case import Case, from_the_start
from tests.validity.live import Alarm
from tests.validity.play import Played

SIGNAL = re.compile(r"\b(\w+) of (worker-\d+|master|controller|far-\S+)")
SOON_SECONDS = 5.0
LASTING_SECONDS = 3.0
BREAK_SECONDS = 1.6
"""Readings further apart than this are not in a row."""

OF_THE_GENERATOR = frozenset(
    {
        "saturated",
        "health_unknown",
        "worker_lost",
        "reports_lost",
        "totals_differ",
        "users_short",
        "behind_schedule",
        "rate_off",
        "no_right_to_send",
        "arrivals_dropped",
        "nothing_ended",
        "generator_errors",
        "not_drained",
    }
)
"""Reasons of a verdict that speak of the instrument."""

NOT_SATURATION = frozenset({"dropped_no_slot", "arrivals_dropped"})
"""A target that holds every slot: it is told, and it is no fault of the generator's."""


@dataclass(frozen=True, slots=True)
class Row:
    """One case's result. `seconds` from the poison to the first sight of a right reason, on the surface `where`."""

    name: str
    kind: str
    flagged: bool
    right: bool
    seconds: float | None
    where: str
    holds: bool
    outcome: str
    ruling: str
    reasons: tuple[str, ...]
    named: tuple[str, ...]
    before: tuple[str, ...]
    peaks: dict[str, float]
    locust_warned: bool
    exit_code: int | None
    took: float
    sentences: tuple[str, ...]


def score(case: Case, played: Played) -> Row:
    """The row of a case."""
    struck = played.struck
    during = [alarm for alarm in played.alarms if struck is None or alarm.at >= struck]
    before = sorted({alarm.what for alarm in played.alarms if struck is not None and alarm.at < struck})
    verdict = played.record.get("verdict", {})
    reasons = [reason for reason in verdict.get("reasons", ()) if reason["kind"] in OF_THE_GENERATOR]
    outcome = played.record.get("outcome", "none")
    refused = outcome == "refused"
    marks = {mark.what for mark in played.marks if struck is not None and mark.at >= struck}
    named = {alarm.what for alarm in during} | marks | _said(reasons)
    seconds, where = _first_right(case, played, during, refused)
    flagged = _flagged(case, verdict.get("ruling", ""), reasons, refused, played.alarms) or "scrapes" in marks
    right = where != ""
    soon = seconds is not None and seconds <= SOON_SECONDS
    return Row(
        name=case.name,
        kind=case.kind,
        flagged=flagged,
        right=right,
        seconds=None if seconds is None else round(max(seconds, 0.0), 1),
        where=where,
        holds=(flagged and right and soon) if case.kind == "poisoned" else outcome == "completed" and not flagged,
        outcome=outcome,
        ruling=verdict.get("ruling", "none"),
        reasons=tuple(dict.fromkeys(reason["kind"] for reason in verdict.get("reasons", ()))),
        named=tuple(sorted(named)),
        before=tuple(before),
        peaks=dict(sorted(played.peaks.items())),
        locust_warned=played.locust_warned,
        exit_code=played.exit_code,
        took=played.took,
        sentences=_sentences(played.record),
    )


def _flagged(case: Case, ruling: str, reasons: list[dict[str, Any]], refused: bool, seen: Iterable[Alarm]) -> bool:
    """Slow servers: what is said of arrivals that found no slot is the truth about the server."""
    ignored = NOT_SATURATION if case.kind == "slow" else frozenset()
    kinds = {reason["kind"] for reason in reasons} - ignored
    if refused:
        return True
    if kinds and (ruling == "invalid" or case.kind == "poisoned"):
        return True
    return any(what not in ignored for what in lasting(seen))


def _said(reasons: Iterable[dict[str, Any]]) -> set[str]:
    """Kinds of reasons, and the signals that their sentences name."""
    reasons = list(reasons)
    words = {signal for reason in reasons for signal, _ in SIGNAL.findall(reason["sentence"])}
    return {reason["kind"] for reason in reasons} | words


def lasting(seen: Iterable[Alarm]) -> set[str]:
    """Which alarms held for three seconds in a row, on one worker."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for alarm in seen:
        times[alarm.what, alarm.who].append(alarm.at)
    found = set()
    for (what, _), moments in times.items():
        first = previous = moments[0]
        for at in moments[1:]:
            first = at if at - previous > BREAK_SECONDS else first
            previous = at
            if at - first >= LASTING_SECONDS:
                found.add(what)
    return found


def _first_right(case: Case, played: Played, during: list[Alarm], refused: bool) -> tuple[float | None, str]:
    """Where and how soon a right reason was to be seen: refused at once, live, or only in the record afterwards."""
    if refused:
        sentences = " ".join(_sentences(played.record)).lower()
        return (
            (0.0, "preflight") if "preflight" in case.right and any(w in sentences for w in case.words) else (None, "")
        )
    if played.struck is None:
        return None, ""
    surfaces = {"metric": during, "annotation": [mark for mark in played.marks if mark.at >= played.struck]}
    right = set(case.right) - _on_already(case, played)
    seen = [(alarm.at, where) for where, found in surfaces.items() for alarm in found if alarm.what in right]
    if seen:
        return min(seen)[0] - played.struck, min(seen)[1]
    said = _said(played.record.get("verdict", {}).get("reasons", ()))
    if said & right:
        return _first_in_seconds(case, played), "record"
    return None, ""


def _on_already(case: Case, played: Played) -> set[str]:
    """What was at its limit right before the poison says nothing of it, unless the poison was there from the start."""
    if case.poison is None or case.poison.strike is from_the_start or played.struck is None:
        return set()
    since = played.struck - LASTING_SECONDS
    return {alarm.what for alarm in played.alarms if since <= alarm.at < played.struck}


def _first_in_seconds(case: Case, played: Played) -> float | None:
    """When the run's own table of seconds first shows it: that second's end."""
    struck = played.struck or 0.0
    rows = [row for row in played.seconds if float(row["end"]) >= struck]
    for row in rows:
        long = float(row["end"]) - float(row["start"]) > BREAK_SECONDS
        saturated = bool(row["saturation"]) and float(row["saturation"]) >= 1
        unknown = not row["saturation"]
        if saturated or unknown or (long and "reports_lost" in case.right):
            return float(row["end"]) - struck
    return None


def _sentences(record: dict[str, Any]) -> tuple[str, ...]:
    reasons = [str(reason["sentence"]) for reason in record.get("verdict", {}).get("reasons", ())]
    findings = [str(finding["sentence"]) for finding in record.get("findings", ()) if not finding.get("ok", True)]
    return (*reasons, *map(str, record.get("notes", ())), *findings)
