"""May a disturbed stretch be left out of a window, and what is then left?

One stretch, with guards, and only where the generator alone can be blamed for it. What remains holds no request that
was under way while the generator was disturbed: an open loop's backlog and slow answers are followed to their end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from controller.figures.disturbance import JOIN_SECONDS, Disturbance, merged_spans

GUARD_BEFORE = 1.0
"""Seconds before a stretch that go with it: a reading of a second says nothing of when in it the trouble began."""

GUARD_AFTER = 2.0
"""Seconds after a stretch that go with it at least: signals look back over up to three seconds, and a worker that was
held up reports late."""

LATE_REPORT = 1.0
"""A request may be told of so many seconds after it ended."""

KEPT_SHARE = 0.75
"""At least this share of the window must remain, or there is no cut: who leaves out more chooses what to see."""

KEPT_SECONDS = 10.0
"""At least so many seconds must remain."""

ROUNDING = 0.002
"""Archived times are rounded to milliseconds."""


class Timed(Protocol):
    """Something of `[start, end)`, epoch seconds."""

    @property
    def start(self) -> float:
        """Its begin."""
        ...

    @property
    def end(self) -> float:
        """Its end."""
        ...


T = TypeVar("T", bound=Timed)


class Reaching(Timed, Protocol):
    """A second that knows how far back its longest request reaches."""

    @property
    def reach(self) -> float:
        """Seconds that the longest request or lateness told of in it took."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """`[start, end)` is left out of a window, `seconds` of it; `because` says in words what disturbed it."""

    start: datetime
    end: datetime
    seconds: float
    because: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """What would be left out, epoch seconds, guards included."""

    start: float
    end: float


def find_stretch(
    disturbed: Iterable[tuple[float, float]], rows: Sequence[Reaching], start: float, end: float
) -> Stretch | None:
    """The longest disturbed stretch of the window `[start, end)` with its guards; None when nothing is disturbed, or
    when requests ended in it that had been waiting since well before it: then the target had stalled first.

    `rows` are the run's seconds from the window's start on, also those after it.
    """
    inside = [(max(a, start), min(b, end)) for a, b in disturbed if b > start and a < end]
    stretches = merged_spans(inside, JOIN_SECONDS)
    if not stretches:
        return None
    begin, over = max(stretches, key=lambda span: (span[1] - span[0], -span[0]))
    first, last = begin - GUARD_BEFORE, over + GUARD_AFTER
    for row in rows:
        if row.end > over and row.start - LATE_REPORT - row.reach < over and row.reach > 0:
            last = max(last, row.end)
    calm = [
        row.reach for row in rows if start <= row.start and row.end <= end and (row.end <= first or row.start >= last)
    ]
    usual = max(calm, default=0.0)
    if any(first < row.end <= last and row.end - row.reach < first - usual - LATE_REPORT for row in rows):
        return None
    return Stretch(max(first, start), min(last, end))


def widened(stretch: Stretch, series: Iterable[Sequence[Timed]]) -> Stretch:
    """The stretch out to the borders of whatever batches lie across them."""
    begin, over = stretch.start, stretch.end
    batches = [batch for one in series for batch in one]
    moved = True
    while moved:
        moved = False
        for batch in batches:
            if batch.start < begin - ROUNDING and batch.end > begin + ROUNDING:
                begin, moved = batch.start, True
            if batch.start < over - ROUNDING and batch.end > over + ROUNDING:
                over, moved = batch.end, True
    return Stretch(begin, over)


def enough_remains(stretch: Stretch, start: float, end: float) -> bool:
    """Whether what is left of the window is still worth its name."""
    left = (end - start) - (min(stretch.end, end) - max(stretch.start, start))
    return left >= max(KEPT_SECONDS, KEPT_SHARE * (end - start))


def outside(batches: Iterable[T], cut: Stretch, start: float, end: float) -> tuple[T, ...]:
    """What a cut leaves of a window's batches. A cut that reaches the window's begin or end takes everything beyond it
    along: requests that were sent inside the window and ended after it."""
    from_begin, to_end = cut.start <= start + ROUNDING, cut.end >= end - ROUNDING
    return tuple(
        batch
        for batch in batches
        if (not from_begin and batch.end <= cut.start + ROUNDING) or (not to_end and batch.start >= cut.end - ROUNDING)
    )


def as_cut(stretch: Stretch, start: float, end: float, because: str) -> Cut:
    """The cut as it is kept: no longer than the window."""
    first, last = max(stretch.start, start), min(stretch.end, end)
    return Cut(datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last, UTC), last - first, because)


def culprits(found: Iterable[Disturbance], stretch: Stretch) -> str:
    """`cpu of worker-1, loop_lag of worker-2`: what disturbed the stretch, the longest first."""
    inside = [one for one in found if one.end.timestamp() > stretch.start and one.start.timestamp() < stretch.end]
    names = dict.fromkeys(f"{one.signal} of {one.worker}" for one in sorted(inside, key=lambda one: -one.seconds))
    shown = list(names)[:3]
    return ", ".join(shown) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
