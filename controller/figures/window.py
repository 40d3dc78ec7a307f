"""What was measured inside one window, and in what state the instrument was meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from controller.figures.indicators import Share, counts, shares, tail_ratio, union, window_indicators
from controller.figures.latency import LatencyLedger
from controller.figures.measurement import Absent, Batch, Measurement, fact
from controller.figures.punctuality import Punctuality
from controller.figures.seconds import Second
from controller.plans.criterion import QUANTILES, Indicator
from controller.plans.rate import format_rate
from controller.plans.timetable import Slot
from controller.running.chronicle import SlotTimes

USERS_TOLERANCE = 0.01
"""Running users may differ from the asked ones by this share; below 100 users not by one."""

CEASED_SECONDS = 1.5
"""A window that ends later than this after the last report was not reported to its end."""


@dataclass(frozen=True, slots=True)
class Health:
    """The generator during a window; only whole intervals inside the window are looked at. Times in seconds.

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


@dataclass(frozen=True, slots=True)
class Window:
    """One measured window `[start, end)` as the generator acknowledged it.

    Figures speak of requests that were sent inside it, whenever they ended. `seconds` is its real length,
    `planned_seconds` what the plan asked for. `outcomes` counts every request by outcome. In an open loop there are
    arrivals instead of users: latencies count from the intended send, and `from_send` has them from the actual send.
    """

    slot: int
    stage: str
    users: int
    loop: Literal["closed", "open"]
    start: datetime
    end: datetime
    seconds: float
    planned_seconds: float
    outcomes: dict[str, int]
    indicators: dict[Indicator, Measurement]
    tail_ratio: Measurement
    shares: tuple[Share, ...]
    health: Health
    punctuality: Punctuality | None = None
    from_send: dict[Indicator, Measurement] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Stage and load: a staircase has many windows of one stage."""
        return window_name(self.stage, self.users, self.punctuality.asked if self.punctuality else None)

    @property
    def ended(self) -> int:
        """All requests of the window that ended, in whatever outcome."""
        return sum(self.outcomes.values())

    @property
    def cut_short(self) -> bool:
        """Whether it lasted noticeably less than planned: by more than half a second and 2 %."""
        return self.planned_seconds - self.seconds > max(0.5, 0.02 * self.planned_seconds)

    @property
    def rate(self) -> float:
        """Requests that ended, a second."""
        return self.ended / self.seconds if self.seconds > 0 else 0.0


def window_name(stage: str, users: int, rate: float | None) -> str:
    """A stage with its users, or with its arrivals a second in an open loop."""
    return f"{stage} @{users:,}" if rate is None else f"{stage} @{format_rate(rate)}"


def measure_window(slot: Slot, times: SlotTimes, ledger: LatencyLedger) -> Window | None:
    """The window of a slot, or None if it has not begun or if nothing was ever reported, as after a lost controller."""
    last, start = ledger.last, times.window_start
    if slot.window is None or start is None or last is None:
        return None
    end = last.end if times.end is None else times.end
    if end <= start:
        return None
    health = _health(slot, start, end, ledger)
    planned = (slot.window[1] - slot.window[0]).total_seconds()
    window = Window(
        slot=slot.seq,
        stage=slot.stage,
        users=slot.users_end,
        loop="closed" if slot.arrivals is None else "open",
        start=datetime.fromtimestamp(start, UTC),
        end=datetime.fromtimestamp(end, UTC),
        seconds=end - start,
        planned_seconds=planned,
        outcomes={},
        indicators={},
        tail_ratio=Absent("not measured"),
        shares=(),
        health=health,
        punctuality=ledger.arrivals(slot.seq).punctuality(slot.arrivals) if slot.arrivals else None,
        from_send=_from_send(ledger.batches_from_send(slot.seq), end - start) if slot.arrivals else {},
    )
    return with_figures(window, ledger.batches(slot.seq))


FROM_SEND = (*QUANTILES, Indicator.MEAN, Indicator.MAX)
"""Latencies of an open loop that are shown from the actual send, too."""


def _from_send(batches: Sequence[Batch], seconds: float) -> dict[Indicator, Measurement]:
    found = window_indicators(batches, seconds)
    return {indicator: found[indicator] for indicator in Indicator if indicator in FROM_SEND}


def with_figures(window: Window, batches: Sequence[Batch]) -> Window:
    """The window with every figure computed from these batches: in the run and from the archive the same."""
    indicators = window_indicators(batches, window.seconds)
    worst = window.health.worst_saturation
    indicators[Indicator.SATURATION] = (
        Absent("the generator's state is unknown")
        if worst is None
        else fact(worst, round(window.health.observed_seconds))
    )
    whole = union(batches)
    return replace(
        window,
        outcomes=counts(batches),
        indicators={indicator: indicators[indicator] for indicator in Indicator},
        tail_ratio=tail_ratio(indicators),
        shares=shares(whole.histogram("ok"), whole.histogram("timeout")),
    )


def _health(slot: Slot, start: float, end: float, ledger: LatencyLedger) -> Health:
    rows = ledger.between(start, end)
    known = [(row.saturation, row.saturated_by) for row in rows if row.saturation is not None]
    worst = max(known, default=(None, ""))
    return Health(
        observed_seconds=_length(rows),
        saturated_seconds=_length([row for row in rows if (row.saturation or 0.0) >= 1]),
        unknown_seconds=_length([row for row in rows if row.saturation is None]),
        short_seconds=_length(
            [row for row in rows if abs(row.users - slot.users_end) > USERS_TOLERANCE * slot.users_end]
        ),
        stalled_seconds=_length([row for row in rows if row.ok == 0 and row.in_flight > 0]),
        missing_seconds=_missing(start, end, ledger),
        worst_saturation=worst[0],
        worst_signal=worst[1],
        least_users=min((row.users for row in rows), default=None),
        least_workers=min((row.workers for row in rows), default=None),
        lost_workers=tuple(sorted({name for row in rows for name in row.lost})),
    )


def _missing(start: float, end: float, ledger: LatencyLedger) -> float:
    """Gaps between reports inside the window, and its end if reports ceased before it."""
    last = ledger.last
    silence = end - last.end if last else end - start
    gaps = [*ledger.gaps, (end - silence, end)] if silence > CEASED_SECONDS else ledger.gaps
    return sum(max(0.0, min(end, to) - max(start, since)) for since, to in gaps)


def _length(rows: Sequence[Second]) -> float:
    return sum(row.length for row in rows)
