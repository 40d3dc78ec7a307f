"""In what state was the generator during a window? Seconds of the window by what was wrong in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from controller.figures.cutting import Stretch
from controller.figures.disturbance import REPORTS, SATURATED_SHARE, WORKERS, Hot, HotSpan, covered
from controller.figures.latency import LatencyLedger
from controller.figures.seconds import Second
from exporters.names.loadgen import MASTER

USERS_TOLERANCE = 0.01
"""Running users may differ from the asked ones by this share; below 100 users not by one."""

CEASED_SECONDS = 1.5
"""A window that ends later than this after the last report was not reported to its end."""

MISSING_SECONDS = 0.5
"""More than this of a window that no report covers: counts and states of that time are lost."""


@dataclass(frozen=True, slots=True)
class Health:
    """The generator during a window, or during what a cut left of it; only whole intervals are looked at. In seconds.

    `saturated_seconds`: a worker at or above its limit; `unknown_seconds`: nobody can say; `short_seconds`: users
    running were not the users asked for; `stalled_seconds`: requests were in flight, but not one was answered;
    `missing_seconds`: covered by no report. `lost_workers` were without a fresh report at some time.
    """

    observed_seconds: float
    saturated_seconds: float
    unknown_seconds: float
    short_seconds: float
    stalled_seconds: float
    missing_seconds: float
    worst_saturation: float | None
    worst_signal: str
    least_users: int | None
    least_workers: int | None
    lost_workers: tuple[str, ...]

    @property
    def saturated(self) -> bool:
        """At a limit for more than `SATURATED_SHARE` of the observed time."""
        return self.saturated_seconds > SATURATED_SHARE * self.observed_seconds


def health(users: int, start: float, end: float, ledger: LatencyLedger, cut: Stretch | None) -> Health:
    """Of `[start, end)` (epoch seconds) without the cut; `users` are those asked for."""
    rows = [row for row in ledger.between(start, end) if cut is None or row.end <= cut.start or row.start >= cut.end]
    known = [(row.saturation, row.saturated_by) for row in rows if row.saturation is not None]
    worst = max(known, default=(None, ""))
    gaps = gaps_within(start, end, ledger)
    left = gaps if cut is None else [gap for gap in gaps if gap[1] <= cut.start or gap[0] >= cut.end]
    return Health(
        observed_seconds=_length(rows),
        saturated_seconds=_length([row for row in rows if (row.saturation or 0.0) >= 1]),
        unknown_seconds=_length([row for row in rows if row.saturation is None]),
        short_seconds=_length([row for row in rows if abs(row.users - users) > USERS_TOLERANCE * users]),
        stalled_seconds=_length([row for row in rows if row.ok == 0 and row.in_flight > 0]),
        missing_seconds=covered(left),
        worst_saturation=worst[0],
        worst_signal=worst[1],
        least_users=min((row.users for row in rows), default=None),
        least_workers=min((row.workers for row in rows), default=None),
        lost_workers=tuple(sorted({name for row in rows for name in row.lost})),
    )


def gaps_within(start: float, end: float, ledger: LatencyLedger) -> list[tuple[float, float]]:
    """Gaps between reports inside the window, and its end if reports ceased before it."""
    last = ledger.last
    silence = end - last.end if last else end - start
    gaps = [*ledger.gaps, (end - silence, end)] if silence > CEASED_SECONDS else ledger.gaps
    inside = [(max(start, since), min(end, to)) for since, to in gaps]
    return [gap for gap in inside if gap[1] > gap[0]]


def hot_spans(start: float, end: float, ledger: LatencyLedger) -> list[HotSpan]:
    """Every second of the window in which a signal was at its limit, and every longer time without a report."""
    found = [
        HotSpan(min(row.start, row.end - hot.since), row.end, hot)
        for row in ledger.between(start, end)
        for hot in row.hot
    ]
    for since, to in gaps_within(start, end, ledger):
        if to - since > MISSING_SECONDS:
            found.append(HotSpan(since, to, Hot(REPORTS, MASTER, (to - since) / MISSING_SECONDS)))
    return found


def breaks_off(spans: Sequence[HotSpan]) -> bool:
    """Whether workers or reports were missing in one of the spans: what was sent then is not known, nor cut out."""
    return any(span.hot.signal in (WORKERS, REPORTS) for span in spans)


def _length(rows: Sequence[Second]) -> float:
    return sum(row.length for row in rows)
