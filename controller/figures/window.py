"""What was measured inside one window, and in what state the instrument was meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, TypeVar

from controller.figures.canary import CanarySeen, seen
from controller.figures.cutting import (
    Cut,
    Stretch,
    Timed,
    as_cut,
    culprits,
    enough_remains,
    find_stretch,
    outside,
    widened,
)
from controller.figures.distortion import LAG, distortion
from controller.figures.disturbance import SATURATED_SHARE, Disturbance, HotSpan, covered, disturbances
from controller.figures.health import Health, breaks_off, health, hot_spans
from controller.figures.indicators import Share, counts, shares, tail_ratio, union, window_indicators
from controller.figures.latency import LatencyLedger
from controller.figures.limited import at_least, limited
from controller.figures.measurement import Absent, Batch, Measurement, fact
from controller.figures.punctuality import Punctuality, together
from controller.plans.criterion import QUANTILES, Indicator
from controller.plans.rate import format_rate
from controller.plans.timetable import Slot
from controller.running.chronicle import SlotTimes

T = TypeVar("T", bound=Timed)

NO_LIMITS: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Window:
    """One measured window `[start, end)` as the generator acknowledged it.

    Figures speak of requests that were sent inside it, whenever they ended. `seconds` is how long was measured: its
    real length without a disturbed stretch that was cut out; `planned_seconds` what the plan asked for. `outcomes`
    counts every request by outcome. `disturbances` are those of the whole window, `health` is that of what was
    measured, `distortion` how many seconds of each quantile the generator itself may have added, and `remarks` say what
    a reader of a window that is not invalid must know. In an open loop there are arrivals instead of users: latencies
    count from the intended send, and `from_send` has them from the actual send.
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
    disturbances: tuple[Disturbance, ...] = ()
    cut: Cut | None = None
    remarks: tuple[str, ...] = ()
    distortion: dict[Indicator, Measurement] = field(default_factory=dict)
    canary: CanarySeen | None = None

    @property
    def name(self) -> str:
        """Stage and load: a staircase has many windows of one stage."""
        return window_name(self.stage, self.users, self.punctuality.asked if self.punctuality else None)

    @property
    def ended(self) -> int:
        """All requests of the window that ended, in whatever outcome."""
        return sum(self.outcomes.values())

    @property
    def lasted(self) -> float:
        """Seconds from start to end."""
        return self.seconds + (self.cut.seconds if self.cut else 0.0)

    @property
    def cut_short(self) -> bool:
        """Whether it lasted noticeably less than planned: by more than half a second and 2 %."""
        return self.planned_seconds - self.lasted > max(0.5, 0.02 * self.planned_seconds)

    def kept(self, batches: Iterable[T]) -> tuple[T, ...]:
        """Those of the window's batches that are measured."""
        if self.cut is None:
            return tuple(batches)
        stretch = Stretch(self.cut.start.timestamp(), self.cut.end.timestamp())
        return outside(batches, stretch, self.start.timestamp(), self.end.timestamp())

    @property
    def rate(self) -> float:
        """Requests that ended, a second."""
        return self.ended / self.seconds if self.seconds > 0 else 0.0


def window_name(stage: str, users: int, rate: float | None) -> str:
    """A stage with its users, or with its arrivals a second in an open loop."""
    return f"{stage} @{users:,}" if rate is None else f"{stage} @{format_rate(rate)}"


def measure_window(
    slot: Slot, times: SlotTimes, ledger: LatencyLedger, limits: Mapping[str, float] = NO_LIMITS
) -> Window | None:
    """The window of a slot, or None if it has not begun or if nothing was ever reported, as after a lost controller.

    `limits` of the signals that were in force are only told."""
    last, start = ledger.last, times.window_start
    if slot.window is None or start is None or last is None:
        return None
    end = last.end if times.end is None else times.end
    if end <= start:
        return None
    spans = hot_spans(start, end, ledger)
    disturbed = disturbances(spans, start, end, limits)
    stretch = _stretch(slot, spans, start, end, ledger)
    cut = None if stretch is None else as_cut(stretch, start, end, culprits(disturbed, stretch))
    window = Window(
        slot=slot.seq,
        stage=slot.stage,
        users=slot.users_end,
        loop="closed" if slot.arrivals is None else "open",
        start=datetime.fromtimestamp(start, UTC),
        end=datetime.fromtimestamp(end, UTC),
        seconds=end - start - (cut.seconds if cut else 0.0),
        planned_seconds=(slot.window[1] - slot.window[0]).total_seconds(),
        outcomes={},
        indicators={},
        tail_ratio=Absent("not measured"),
        shares=(),
        health=health(slot.users_end, start, end, ledger, stretch),
        disturbances=disturbed,
        cut=cut,
    )
    kept = together(window.kept(ledger.arrivals(slot.seq)))
    if slot.arrivals:
        from_send = _from_send(window.kept(ledger.batches_from_send(slot.seq)), window.seconds)
        window = replace(window, punctuality=kept.punctuality(slot.arrivals), from_send=from_send)
    window = with_figures(window, ledger.batches(slot.seq))
    canary = seen(ledger.probes, [row for row in ledger.between(start, end) if not _in_cut(row, stretch)])
    waited = [batch.histogram(LAG) for batch in window.kept(ledger.waits(slot.seq))]
    late = kept.lateness if slot.arrivals else None
    return replace(window, canary=canary, distortion=distortion(waited, late, window.indicators, canary))


def _in_cut(row: Timed, stretch: Stretch | None) -> bool:
    return stretch is not None and row.end > stretch.start and row.start < stretch.end


def _stretch(slot: Slot, spans: Sequence[HotSpan], start: float, end: float, ledger: LatencyLedger) -> Stretch | None:
    """What is to be cut out: nothing where little is disturbed, where counts or workers were lost, or where a cut would
    not help or leave too little."""
    disturbed = [(max(span.start, start), min(span.end, end)) for span in spans]
    if covered(disturbed) <= SATURATED_SHARE * (end - start) or breaks_off(spans):
        return None
    rows = [row for row in ledger.seconds if row.end > start]
    stretch = find_stretch(disturbed, rows, start, end)
    if stretch is None:
        return None
    seq = slot.seq
    stretch = widened(
        stretch, (ledger.batches(seq), ledger.batches_from_send(seq), ledger.arrivals(seq), ledger.waits(seq))
    )
    if not enough_remains(stretch, start, end):
        return None
    left = health(slot.users_end, start, end, ledger, stretch)
    return None if left.saturated else stretch


FROM_SEND = (*QUANTILES, Indicator.MEAN, Indicator.MAX)
"""Latencies of an open loop that are shown from the actual send, too."""


def _from_send(batches: Sequence[Batch], seconds: float) -> dict[Indicator, Measurement]:
    found = window_indicators(batches, seconds)
    return {indicator: found[indicator] for indicator in Indicator if indicator in FROM_SEND}


def with_figures(window: Window, batches: Sequence[Batch]) -> Window:
    """The window with every figure computed from those of its batches that a cut leaves: in the run and from the
    archive the same. What the generator limited is a lower bound."""
    batches = window.kept(batches)
    indicators = window_indicators(batches, window.seconds)
    if limited(window.health, window.punctuality, indicators[Indicator.P99]):
        indicators[Indicator.THROUGHPUT] = at_least(indicators[Indicator.THROUGHPUT])
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
