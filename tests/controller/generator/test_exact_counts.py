from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from controller.orders import Ack, Interval
from exporters.names import loadgen
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.target import OUTCOME, Target

pytestmark = pytest.mark.slow

RAMP = (2, 4, 8, 12, 16, 16, 10, 6, 3, 1)


def test_server_intervals_totals_and_metrics_count_the_same_through_a_ramp(tmp_path: Path) -> None:
    target = Target()
    with Drive(a_spec(target.url), tmp_path / "locust.log") as drive:
        for slot, users in enumerate(RAMP):
            drive.order(users, slot, measured=slot == 5)
            drive.run(0.5)
        while target.count < 5_500:
            drive.run(0.2)
        drained = drive.drain()
        metrics = drive.metrics()

        assert target.count >= 5_000
        assert drained.totals == dict.fromkeys(loadgen.OUTCOMES, 0) | {"ok": target.count}
        assert drained.started == target.count
        assert drained.aborted == 0
        assert drive.outcomes() == Counter(ok=target.count)
        assert [metrics[f'loadgen_requests_total{{outcome="{name}"}}'] for name in loadgen.OUTCOMES] == [
            drained.totals[name] for name in loadgen.OUTCOMES
        ]
        assert metrics['loadgen_request_duration_seconds_count{outcome="ok"}'] == target.count
        assert metrics['loadgen_request_duration_seconds_bucket{le="+Inf",outcome="ok"}'] == target.count
        sum_us = sum(cell.sum_us for interval in drive.intervals() for cell in interval.cells)
        assert metrics['loadgen_request_duration_seconds_sum{outcome="ok"}'] == pytest.approx(sum_us / 1e6)
        assert metrics["loadgen_requests_started_total"] == target.count
        assert metrics["loadgen_in_flight_requests"] == 0
        assert drive.quit() == 0
    assert drive.faults() == []
    _intervals_fit_together(drive.intervals())
    _orders_took_effect_soon(drive)
    _each_worker_has_its_part_of_the_pool(target)


def _intervals_fit_together(intervals: list[Interval]) -> None:
    assert all(before.end == after.start for before, after in pairwise(intervals))
    assert {interval.end % 1.0 for interval in intervals[:-1]} == {0.0}
    ended = 0
    for interval in intervals:
        ended += sum(sum(cell.counts.values()) for cell in interval.cells)
        assert interval.ended == ended
        assert interval.in_flight == interval.started - interval.ended
    assert {cell.slot for i in intervals for cell in i.cells if cell.measured} == {5}
    assert max(interval.users for interval in intervals) == max(RAMP)
    *workers, master = intervals[-4].workers
    for worker in workers:
        assert {"cpu", "loop_lag", "descriptors", "memory", "gc", "clock", "errors"} <= set(worker.saturation)
        assert worker.saturation["errors"] == 0.0
        assert 0.0 <= worker.report_age < 3.0
    assert (master.worker, master.users) == (loadgen.MASTER, 0)
    assert {"cpu", "loop_lag", "workers"} <= set(master.saturation)
    assert {name for one in intervals for worker in one.workers for name in worker.saturation} < set(loadgen.SIGNALS)


def _orders_took_effect_soon(drive: Drive) -> None:
    delays = sorted(ack.at - drive.sent[ack.number] for ack in drive.reports if isinstance(ack, Ack))
    assert len(delays) == len(RAMP)
    assert delays[0] > 0.0
    assert delays[len(delays) // 2] <= 0.05


def _each_worker_has_its_part_of_the_pool(target: Target) -> None:
    assert len(target.bodies) == 20
    assert target.heads[0].startswith(b"POST /v1/models/m:predict HTTP/1.1\r\nHost: 127.0.0.1:")


def test_every_kind_of_end_is_in_its_class_and_a_dead_target_is_a_connection_error(tmp_path: Path) -> None:
    target = Target(behaviours=tuple(OUTCOME))
    spec = a_spec(target.url, workers=1, timeout=timedelta(seconds=1))
    with Drive(spec, tmp_path / "locust.log") as drive:
        drive.order(8, slot=1)
        drive.run(3.0)
        drive.order(0, slot=2)
        drive.run(1.5)  # the last one may be silent
        expected: Counter[str] = Counter()
        for behaviour, number in target.seen.items():
            expected[OUTCOME[behaviour]] += number
        target.stop()
        drive.order(4, slot=3)
        drive.run(1.0)
        drained = drive.drain()
        assert drive.outcomes(slot=1) == expected
        assert min(expected[name] for name in set(OUTCOME.values())) >= 5
        assert set(drive.outcomes(slot=3)) == {"connection_error"}
        assert 8 <= drive.outcomes(slot=3)["connection_error"] <= 60  # four users that pause a tenth of a second
        assert drive.outcomes() == +Counter(drained.totals)
        assert sum(drained.totals.values()) == drained.started
    waits = [us for i in drive.intervals() for c in i.cells if c.outcome == "timeout" for us in c.counts]
    assert min(waits) >= 980_000
    assert max(waits) < 2_000_000
    log = (tmp_path / "locust.log").read_text()
    assert log.count("Connection refused") == 2  # named once when it comes first, and once with its total
