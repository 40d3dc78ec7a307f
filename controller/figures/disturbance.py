"""When was the instrument at a limit of its own, by which signal of which worker, and for how much of a window?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

SATURATED_SHARE = 0.05
"""A window with no more than this share of its seconds at a limit stays valid, with a remark."""

JOIN_SECONDS = 3.0
"""Disturbances of one signal and worker with no more calm than this between them are told as one: signals look back
over up to three seconds, so that a shorter calm is none."""

MOST_DISTURBANCES = 20
"""Of one window; those with the most seconds are kept."""

REPORTS = "reports"
"""Signal of time that no report covers."""

WORKERS = "workers"
"""Signal of workers that do not report."""


@dataclass(frozen=True, slots=True)
class Hot:
    """A signal of a worker at its limit or beyond in one second; `value` is its distance to the limit, at least 1.

    `since`: so many seconds before the end of the second it began, where that is known to be longer than the second.
    """

    signal: str
    worker: str
    value: float
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class Disturbance:
    """`signal` of `worker` was at its limit for `seconds` between `start` and `end`, which is `share` of the window.

    `worst` is its greatest distance to the limit: 1 is at it, 2 is twice it. `limit` is in the signal's unit, seconds
    or a ratio; None where there is none.
    """

    signal: str
    worker: str
    start: datetime
    end: datetime
    seconds: float
    share: float
    worst: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class HotSpan:
    """A signal of a worker at its limit from `start` to `end`, epoch seconds."""

    start: float
    end: float
    hot: Hot


def disturbances(
    spans: Iterable[HotSpan], start: float, end: float, limits: Mapping[str, float]
) -> tuple[Disturbance, ...]:
    """What disturbed the window `[start, end)` (epoch seconds), in order of time, each signal and worker by itself;
    `limits` are those in force."""
    found: list[list[HotSpan]] = []
    newest: dict[tuple[str, str], list[HotSpan]] = {}
    for span in sorted(spans, key=lambda span: span.start):
        if span.end <= start or span.start >= end:
            continue
        key = (span.hot.signal, span.hot.worker)
        together = newest.get(key)
        if together is None or span.start - max(one.end for one in together) > JOIN_SECONDS:
            together = newest[key] = []
            found.append(together)
        together.append(span)
    made = [_disturbance(group, start, end, limits.get(group[0].hot.signal)) for group in found]
    kept = sorted(made, key=lambda one: (-one.seconds, one.start, one.signal, one.worker))[:MOST_DISTURBANCES]
    return tuple(sorted(kept, key=lambda one: (one.start, one.signal, one.worker)))


def _disturbance(group: Sequence[HotSpan], start: float, end: float, limit: float | None) -> Disturbance:
    seconds = covered([(max(span.start, start), min(span.end, end)) for span in group])
    first, last = max(start, min(span.start for span in group)), min(end, max(span.end for span in group))
    worst = max(span.hot.value for span in group)
    begun, ended = datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last, UTC)
    hot = group[0].hot
    return Disturbance(hot.signal, hot.worker, begun, ended, seconds, seconds / (end - start), worst, limit)


def merged_spans(spans: Iterable[tuple[float, float]], calm: float = 0.0) -> list[tuple[float, float]]:
    """The spans as few, in order, those that lie no more than `calm` seconds apart joined."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] <= calm:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds that lie in at least one of the spans."""
    return sum(end - start for start, end in merged_spans(spans))
