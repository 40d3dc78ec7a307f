"""What one second of a run looked like: the series behind stop rules, live display, validity and `seconds.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from controller.figures.disturbance import WORKERS, Hot
from controller.figures.histogram import highest
from controller.figures.indicators import second_indicators, union
from controller.figures.measurement import Absent, Batch, Measured, Measurement, fact
from controller.orders import LEASE_SECONDS, Interval, WorkerHealth
from controller.plans.criterion import Indicator
from exporters.names.loadgen import PLACES

STALE_SECONDS = LEASE_SECONDS
"""A worker that has not reported for longer than this is lost: its lease is over, it sends nothing any more."""


@dataclass(frozen=True, slots=True)
class Second:
    """One interval `[start, end)` in epoch seconds, over all slots; counts are requests that ended in it.

    Latencies of an open loop count from the intended send.

    `saturation` is the worst signal of any worker, None when a worker's state is unknown and no known one is at its
    limit; `saturated_by` names signal and worker. `lost` are workers without a fresh report, `workers` those with one.
    `hot` are the signals at their limit or beyond; `reach` is how many seconds the longest request or lateness that was
    told of in it took.
    """

    start: float
    end: float
    ok: int
    errors: int
    timeouts: int
    users: int
    in_flight: int
    workers: int
    lost: tuple[str, ...]
    saturation: float | None
    saturated_by: str
    indicators: Mapping[Indicator, Measurement]
    degraded: int = 0  # usable answers of a fallback: neither `ok` nor errors
    rate: float = 0.0  # open loop: arrivals a second that were asked for at its end
    due: int = 0  # open loop: arrivals
    dropped: int = 0  # open loop: arrivals that were not sent
    hot: tuple[Hot, ...] = ()
    reach: float = 0.0

    @property
    def length(self) -> float:
        """Seconds between start and end."""
        return self.end - self.start

    @property
    def ended(self) -> int:
        """All requests that ended."""
        return self.ok + self.errors + self.degraded


def second(interval: Interval, by_slot: Iterable[Batch]) -> Second:
    """The second that an interval reports; `by_slot` are its counts, already on the grid."""
    whole = union(list(by_slot))
    ended = sum(histogram.total for histogram in whole.outcomes.values())
    ok, degraded = whole.histogram("ok").total, whole.histogram("degraded").total
    saturation, saturated_by = _worst(interval.workers)
    lost = tuple(worker.worker for worker in interval.workers if _lost(worker))
    members = sum(worker.worker not in PLACES for worker in interval.workers)
    indicators = second_indicators(Batch(interval.start, interval.end, whole.outcomes))
    indicators[Indicator.SATURATION] = (
        Absent("the state of a worker is unknown") if saturation is None else fact(saturation, len(interval.workers))
    )
    return Second(
        interval.start,
        interval.end,
        ok,
        ended - ok - degraded,
        whole.histogram("timeout").total,
        interval.users,
        interval.in_flight,
        members - len(lost),
        lost,
        saturation,
        saturated_by,
        indicators,
        degraded,
        interval.rate,
        sum(cell.due for cell in interval.arrivals),
        sum(sum(cell.dropped.values()) for cell in interval.arrivals),
        _hot(interval.workers),
        _reach(whole, interval),
    )


def _lost(worker: WorkerHealth) -> bool:
    return not worker.present or worker.report_age > STALE_SECONDS


def _hot(workers: tuple[WorkerHealth, ...]) -> tuple[Hot, ...]:
    """Every signal at its limit; of workers that do not report any more only that, since their last report."""
    found: list[Hot] = []
    for worker in workers:
        if _lost(worker):
            found.append(Hot(WORKERS, worker.worker, max(worker.report_age / STALE_SECONDS, 1.0), worker.report_age))
        else:
            found.extend(Hot(name, worker.worker, value) for name, value in worker.saturation.items() if value >= 1)
    return tuple(found)


def _reach(whole: Batch, interval: Interval) -> float:
    latencies = (max(histogram.counts) for histogram in whole.outcomes.values() if histogram.counts)
    lateness = (max(cell.lateness) for cell in interval.arrivals if cell.lateness)
    return highest(max((*latencies, *lateness), default=0)) / 1e6


def _worst(workers: tuple[WorkerHealth, ...]) -> tuple[float | None, str]:
    fresh = [worker for worker in workers if not _lost(worker) and worker.saturation]
    readings = [(value, f"{signal} of {w.worker}") for w in fresh for signal, value in w.saturation.items()]
    if not readings:
        return None, ""
    worst = max(readings)
    return worst if worst[0] >= 1 or len(fresh) == len(workers) else (None, "")


KEPT = (Indicator.P50, Indicator.P99)
"""Indicators that an old second keeps, and that `seconds.csv` shows."""


def slim(row: Second) -> Second:
    """The second with few indicators, for a run of many hours."""
    return replace(row, indicators={indicator: row.indicators[indicator] for indicator in KEPT})


COLUMNS = (
    "start",
    "end",
    "ok",
    "errors",
    "timeouts",
    "users",
    "in_flight",
    "workers",
    "saturation",
    "p50",
    "p99",
    "degraded",
    "rate",
    "due",
    "dropped",
)
"""Header of `seconds.csv`; latencies in seconds, an empty field is unknown."""


def to_csv(seconds: Iterable[Second]) -> bytes:
    """The series as a table with one row a second, for people and other programs."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in seconds:
        quantiles = [_field(row.indicators[indicator]) for indicator in KEPT]
        saturation = "" if row.saturation is None else f"{row.saturation:.4f}"
        numbers = (row.ok, row.errors, row.timeouts, row.users, row.in_flight, row.workers)
        rest = (row.degraded, f"{row.rate:g}", row.due, row.dropped)
        table.writerow([f"{row.start:.3f}", f"{row.end:.3f}", *numbers, saturation, *quantiles, *rest])
    return text.getvalue().encode()


def _field(measurement: Measurement) -> str:
    return f"{measurement.value:.6f}" if isinstance(measurement, Measured) else ""
