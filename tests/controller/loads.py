"""Builders for what a generator reports: intervals of known latencies, and the records that follow from them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from controller.figures.latency import LatencyLedger
from controller.orders import ArrivalCell, Cell, Drained, Interval, WorkerHealth
from controller.outcome import Outcome
from controller.plans.criterion import Criterion, Indicator, Operator
from controller.plans.plan import Hold, Payloads, Phase, Plan, Target, Workload
from controller.plans.timetable import Slot, Timetable
from controller.running.chronicle import SlotTimes
from controller.verdicts.conclusion import Remains

T0 = 1_893_456_000.0  # 2030-01-01T00:00:00Z
HEALTHY = (WorkerHealth("worker-0", 5, 0.2, {"cpu": 0.31, "loop_lag": 0.12}),)


def dice(seed: int) -> random.Random:
    """Chance that comes out the same every time."""
    return random.Random(seed)  # noqa: S311 - statistics, not secrets


def a_cell(latencies_ms: Iterable[float], outcome: str = "ok", slot: int = 0, *, measured: bool = True) -> Cell:
    """Requests of these latencies in milliseconds."""
    microseconds = [round(ms * 1000) for ms in latencies_ms]
    return Cell(slot, measured, outcome, dict(Counter(microseconds)), sum(microseconds))


@dataclass(slots=True)
class Reporter:
    """A generator's bookkeeping: hands out intervals whose running counts fit."""

    now: float = T0
    ended: int = 0
    users: int = 5
    ledger: LatencyLedger = field(default_factory=LatencyLedger)
    totals: Counter[str] = field(default_factory=Counter)

    def second(
        self,
        *cells: Cell,
        workers: tuple[WorkerHealth, ...] = HEALTHY,
        length: float = 1.0,
        in_flight: int = 0,
        users: int | None = None,
        intended: tuple[Cell, ...] = (),
        arrivals: tuple[ArrivalCell, ...] = (),
        rate: float = 0.0,
    ) -> Interval:
        """One interval, taken by the ledger."""
        self.ended += sum(sum(cell.counts.values()) for cell in cells)
        for cell in cells:
            self.totals[cell.outcome] += sum(cell.counts.values())
        interval = Interval(
            self.now,
            self.now + length,
            cells,
            self.ended + in_flight,
            self.ended,
            in_flight,
            self.users if users is None else users,
            workers,
            intended,
            arrivals,
            rate,
        )
        self.now += length
        self.ledger.add(interval)
        return interval

    def seconds(self, number: int, *cells: Cell, **kinds: object) -> None:
        """The same again and again."""
        for _ in range(number):
            self.second(*cells, **kinds)  # type: ignore[arg-type]

    def drained(self, **changes: object) -> Drained:
        """Final totals that fit."""
        return replace(Drained(self.now, dict(self.totals), self.ended, 0), **changes)  # type: ignore[arg-type]


def criterion(text: str, indicator: Indicator, operator: str, bound: float) -> Criterion:
    """A criterion from its parts."""
    return Criterion(text, indicator, Operator(operator), bound)


P99_50 = criterion("p99 <= 50ms", Indicator.P99, "<=", 0.050)
ERRORS_1 = criterion("error_ratio < 1%", Indicator.ERROR_RATIO, "<", 0.01)


def a_slot(seq: int = 0, stage: str = "peak", length: float = 20.0, start: float = 0.0, users: int = 5) -> Slot:
    """A steady slot, all of it measured."""
    begin = timedelta(seconds=start)
    return Slot(seq, stage, Phase.STEADY, begin, begin + timedelta(seconds=length), users, users)


def times(slot: Slot, length: float | None = None) -> SlotTimes:
    """The slot took effect on time; it lasted `length` seconds, or as planned."""
    start = T0 + slot.start.total_seconds()
    end = start + ((slot.end - slot.start).total_seconds() if length is None else length)
    return SlotTimes(slot.seq, slot.stage, slot.phase, start, start, end)


def the_plan(objectives: Sequence[Criterion] = (P99_50, ERRORS_1), **changes: object) -> Plan:
    """A plan with these objectives; its stages do not matter here, the slots do."""
    plan = Plan(
        name="nightly",
        target=Target("tfserving", "http://127.0.0.1:8501", "scorer"),
        workload=Workload(Payloads(random_shape=(16,))),
        stages=(Hold("peak", load=5, lasts=timedelta(seconds=20)),),
        digest="d" * 64,
        source="version: 1\n",
        path=Path("nightly.yaml"),
        objectives=tuple(objectives),
    )
    return replace(plan, **changes)  # type: ignore[arg-type]


def remains(
    reporter: Reporter,
    slots: Sequence[Slot] | None = None,
    happened: Mapping[int, SlotTimes] | None = None,
    objectives: Sequence[Criterion] = (P99_50, ERRORS_1),
    **changes: object,
) -> Remains:
    """What a completed run of these slots leaves behind."""
    slots = [a_slot()] if slots is None else slots
    happened = {slot.seq: times(slot) for slot in slots} if happened is None else happened
    left = Remains(
        run_id="nightly-20300101T000000-1a2b",
        plan=the_plan(objectives),
        timetable=Timetable(tuple(slots)),
        slots=happened,
        ledger=reporter.ledger,
        drained=reporter.drained(),
        outcome=Outcome.COMPLETED,
        because="the timetable is done",
        started=datetime.fromtimestamp(T0 - 3, UTC),
        ended=datetime.fromtimestamp(reporter.now + 1, UTC),
        fingerprint={"target": {"kind": "tfserving"}, "tools": {"locust": "2.47.0"}},
    )
    return replace(left, **changes)  # type: ignore[arg-type]
