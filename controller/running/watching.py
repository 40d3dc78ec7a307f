"""What of the generator's own troubles is to be marked while the run is on? At most a few regions, each moved forward.

`watch(state, ...) -> (state, marks)`; pure, fed with each second as it is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from controller.figures.disturbance import JOIN_SECONDS
from controller.figures.seconds import Second

MOST_MARKS = 20
"""Regions of one run at most: a generator that flaps for hours must not flood Grafana. The record has them all."""

FORWARD_SECONDS = 15.0
"""How often the end of a region that still lasts is moved."""

JOINED = "joined"
"""What is marked of a worker that came in mid-run: Locust divides the load anew at that moment."""

UNSCRAPED = "scrapes"
"""What is marked while Prometheus does not scrape the generator: the run's series have a hole then."""


@dataclass(frozen=True, slots=True)
class Mark:
    """`signal` of `worker` was at its limit from `start` to `end`, epoch seconds; `closed`: it is over."""

    number: int
    signal: str
    worker: str
    start: float
    end: float
    worst: float
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """Marks that are open, by signal and worker, with the end that was last told; how many there were; who is known."""

    open: Mapping[tuple[str, str], tuple[Mark, float]] = field(default_factory=dict)
    made: int = 0
    known: frozenset[str] = frozenset()


def watch(state: Watched, row: Second, workers: Iterable[str]) -> tuple[Watched, tuple[Mark, ...]]:
    """The state after a second, and the marks that have to be put anew because of it; `workers` are those there are."""
    found: list[Mark] = []
    kept = dict(state.open)
    made = state.made
    names = frozenset(workers)
    if state.known:
        for name in sorted(names - state.known):
            if made < MOST_MARKS:
                found.append(Mark(made, JOINED, name, row.end - 1.0, row.end, 1.0, closed=True))
                made += 1
    for hot in row.hot:
        key = (hot.signal, hot.worker)
        before = kept.get(key)
        if before is not None:
            mark = replace(before[0], end=row.end, worst=max(before[0].worst, hot.value))
            told = before[1]
            if row.end - told >= FORWARD_SECONDS:
                found.append(mark)
                told = row.end
            kept[key] = (mark, told)
        elif made < MOST_MARKS:
            mark = Mark(made, hot.signal, hot.worker, min(row.start, row.end - hot.since), row.end, hot.value)
            found.append(mark)
            kept[key] = (mark, row.end)
            made += 1
    over = {key for key, (mark, _) in kept.items() if row.end - mark.end > JOIN_SECONDS}
    found.extend(replace(kept[key][0], closed=True) for key in sorted(over))
    left = {key: value for key, value in kept.items() if key not in over}
    return Watched(left, made, state.known | names), tuple(found)


def finish(state: Watched) -> tuple[Watched, tuple[Mark, ...]]:
    """Nothing is watched any more: every open mark is over."""
    return replace(state, open={}), tuple(_closing(state))


def unscraped(mark: Mark) -> str:
    """The sentence for the record about a hole in the run's series."""
    start, end = (f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}" for at in (mark.start, mark.end))
    return (
        f"Prometheus did not scrape the generator from {start} to {end} UTC: boards, alerts and the archived series "
        "have a hole there; no figure of this record comes from them"
    )


def _closing(state: Watched) -> Iterator[Mark]:
    for key in sorted(state.open):
        yield replace(state.open[key][0], closed=True)
