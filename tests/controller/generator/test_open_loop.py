"""Open loops with real processes: nothing is lost or doubled, nothing waits for a slot, and both clocks are told."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from controller.orders import Ack, Cell, Interval, Order
from controller.plans.arrivals import Arrivals
from controller.plans.plan import Payloads
from tests.compose.targets.tfserving_standin.running import StandIn, a_stand_in, requests_in
from tests.controller.generator.drive import Drive, a_spec

pytestmark = pytest.mark.slow


def arrive(drive: Drive, arrivals: Arrivals | None, slot: int, *, measured: bool = False) -> Ack:
    """Order arrivals, or none, and wait until it took effect."""
    drive.number += 1
    number = drive.number
    drive.process.send(Order(number, slot, "stage", "steady", measured, 0, arrivals))
    return drive.wait(Ack, 5.0, lambda ack: ack.number == number)


def driven(stand_in: StandIn, folder: Path, workers: int) -> Drive:
    """A generator for the stand-in."""
    payloads = Payloads(random_shape=(16,), count=20)
    url = f"http://{stand_in.host}:{stand_in.port}"
    spec = a_spec(url, workers=workers, payloads=payloads, timeout=timedelta(seconds=5))
    return Drive(spec, folder / "locust.log")


def due(intervals: list[Interval], slot: int) -> int:
    """Arrivals of a slot."""
    return sum(cell.due for interval in intervals for cell in interval.arrivals if cell.slot == slot)


def test_two_workers_keep_one_schedule_over_all_orders_and_every_arrival_is_a_request(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with a_stand_in("--log", str(log)) as stand_in, driven(stand_in, tmp_path, 2) as drive:
        steps = [Arrivals(100, 100, 1.5), Arrivals(100, 300, 2), Arrivals(300, 300, 1.5)]
        acks = []
        for slot, arrivals in enumerate(steps):
            acks.append(arrive(drive, arrivals, slot))
            drive.run(arrivals.lasts)
        acks.append(arrive(drive, None, len(steps)))
        drained = drive.drain()
        intervals = drive.intervals()
        asked = 0.0
        for slot, arrivals in enumerate(steps):
            expected = arrivals.expected(0.0, acks[slot + 1].at - acks[slot].at)
            asked += expected
            assert due(intervals, slot) == pytest.approx(expected, abs=8)  # what an order's way of 20 ms may hold
        total = sum(due(intervals, slot) for slot in range(len(steps)))
        assert total == pytest.approx(asked, abs=8)
        assert drained.started == drained.totals["ok"] == total
        stand_in.settled()
        assert len(requests_in(log)) == total

        actual = [cell for interval in intervals for cell in interval.cells]
        intended = [cell for interval in intervals for cell in interval.intended]
        assert _numbers(actual) == _numbers(intended)  # every request of an open loop is told on both clocks
        late = sum(cell.lateness_sum_us for interval in intervals for cell in interval.arrivals)
        assert sum(cell.sum_us for cell in intended) - sum(cell.sum_us for cell in actual) == late
        assert drive.metrics()["loadgen_arrivals_total"] == total
        assert drive.quit() == 0


def _numbers(cells: list[Cell]) -> Counter[tuple[int, str]]:
    """Requests by slot and outcome."""
    found: Counter[tuple[int, str]] = Counter()
    for cell in cells:
        found[cell.slot, cell.outcome] += sum(cell.counts.values())
    return found


def test_what_finds_no_slot_is_dropped_and_counted_and_the_rest_is_on_time(tmp_path: Path) -> None:
    with a_stand_in("--latency", "constant:500ms") as stand_in, driven(stand_in, tmp_path, 1) as drive:
        arrive(drive, Arrivals(100, 100, 3, max_in_flight=10), 0, measured=True)
        drive.run(2.5)
        arrive(drive, None, 1)
        drained = drive.drain()
        cells = [cell for interval in drive.intervals() for cell in interval.arrivals]
        came = sum(cell.due for cell in cells)
        dropped = sum(cell.dropped.get("no_slot", 0) for cell in cells)
        assert came == pytest.approx(250, abs=60)
        assert drained.started + dropped == came
        assert drained.started <= 10 * 6  # by ten slots, each taken for half a second, in two and a half seconds
        assert dropped >= came - 60
        assert max(interval.in_flight for interval in drive.intervals()) <= 10
        assert drive.metrics()['loadgen_dropped_arrivals_total{reason="no_slot"}'] == dropped


def test_without_a_lease_arrivals_are_counted_as_dropped(tmp_path: Path) -> None:
    with a_stand_in() as stand_in, driven(stand_in, tmp_path, 1) as drive:
        arrive(drive, Arrivals(50, 50, 10), 0, measured=True)
        drive.run(0.5)
        drive.leasing = False
        drive.run(4.5)
        cells = [cell for interval in drive.intervals() for cell in interval.arrivals]
        assert sum(cell.dropped.get("no_lease", 0) for cell in cells) > 20
