from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from controller.edges.rehearsal import EPOCH, RehearsalClock
from controller.edges.rehearsal_generator import Faults, RehearsalGenerator
from controller.edges.rehearsal_load import Answers, closed_loop, latencies
from controller.generator_spec import GeneratorSpec
from controller.orders import Ack, Drain, Drained, Fault, Hello, Interval, Lease, Order, Quit, Report
from controller.plans.plan import Payloads, Target, Workload
from controller.ports import EdgeError, Generator

SPEC = GeneratorSpec(
    "r1", "plan", Target("tfserving", "http://127.0.0.1:1", model="m"), Workload(Payloads(npy=Path("/x"))), 2
)


def drive(generator: RehearsalGenerator, clock: RehearsalClock, seconds: float) -> list[Report]:
    """Live for a while as the controller does: renew the lease every second, read the reports."""
    seen: list[Report] = []
    for _ in range(round(seconds * 10)):
        if generator.alive() and clock.elapsed % 1.0 < 0.1:
            generator.send(Lease(clock.now().timestamp()))
        clock.sleep(0.1)
        seen += generator.reports()
    return seen


def started(**options: object) -> tuple[RehearsalGenerator, RehearsalClock]:
    clock = RehearsalClock()
    generator = RehearsalGenerator(clock, **options)  # type: ignore[arg-type]
    generator.start(SPEC)
    return generator, clock


def order(number: int, users: int, slot: int = 0) -> Order:
    return Order(number, slot, "stage", "steady", True, users)


def test_it_is_a_generator() -> None:
    port: Generator = RehearsalGenerator(RehearsalClock())
    assert port.reports() == []


def test_a_clock_moves_by_sleeping_only_and_keeps_its_appointments() -> None:
    clock, seen = RehearsalClock(), []

    def note() -> None:
        seen.append((clock.elapsed, clock.now()))

    clock.at(2.5, note)
    clock.at(1.0, note)
    clock.sleep(5)
    clock.step_wall(-90)
    assert seen == [(1.0, EPOCH + timedelta(seconds=1)), (2.5, EPOCH + timedelta(seconds=2.5))]
    assert (clock.monotonic(), clock.now()) == (5.0, EPOCH + timedelta(seconds=5 - 90))


def test_an_order_is_acknowledged_at_the_time_it_takes_effect() -> None:
    generator, clock = started()
    drive(generator, clock, 2)
    generator.send(order(1, 8))
    asked = clock.now().timestamp()
    (ack,) = (report for report in drive(generator, clock, 1) if isinstance(report, Ack))
    assert ack.number == 1
    assert ack.at == pytest.approx(asked + 0.05, abs=1e-6)


def test_counts_are_conserved_over_changes_of_load_and_the_drain() -> None:
    generator, clock = started()
    seen = drive(generator, clock, 1.5)
    for number, users in enumerate((5, 40, 12), 1):
        generator.send(order(number, users, slot=number))
        seen += drive(generator, clock, 3)
    generator.send(Drain(5.0))
    seen += drive(generator, clock, 1)
    assert isinstance(seen[0], Hello)
    (drained,) = (report for report in seen if isinstance(report, Drained))
    intervals = [report for report in seen if isinstance(report, Interval)]
    counted = sum(sum(cell.counts.values()) for interval in intervals for cell in interval.cells)
    assert drained.totals == {"ok": counted}
    assert drained.started == counted
    assert counted > 12_000
    for before, after in pairwise(intervals):
        assert after.start == pytest.approx(before.end)
        assert after.started >= before.started
        assert after.started == after.ended + after.in_flight


def test_throughput_and_latency_follow_the_model() -> None:
    generator, clock = started(behaviour=closed_loop(service_seconds=0.004, places=8))
    drive(generator, clock, 1.5)
    generator.send(order(1, 80))
    seen = [report for report in drive(generator, clock, 10) if isinstance(report, Interval)]
    cells = [cell for interval in seen[2:] for cell in interval.cells]
    number = sum(sum(cell.counts.values()) for cell in cells)
    assert number / (len(seen) - 2) == pytest.approx(2000, rel=0.01)
    assert sum(cell.sum_us for cell in cells) / number == pytest.approx(0.040 * 1e6, rel=0.01)


def test_latencies_have_the_stated_mean_and_tail() -> None:
    counts = latencies(0, 100_000, 0.010)
    values = sorted(us for us, number in counts.items() for _ in range(number))
    assert sum(values) / len(values) == pytest.approx(10_000, rel=0.005)
    assert values[99_000 - 1] == pytest.approx(20_800, rel=0.01)


def test_errors_of_the_target_are_counted_apart() -> None:
    generator, clock = started(behaviour=lambda _elapsed, _users: Answers(0.01, error_ratio=0.25))
    drive(generator, clock, 1.5)
    generator.send(order(1, 10))
    drive(generator, clock, 4)
    generator.send(Drain(1.0))
    (drained,) = (report for report in drive(generator, clock, 1) if isinstance(report, Drained))
    assert drained.totals["http_error"] == pytest.approx(drained.totals["ok"] / 3, rel=0.02)


def test_without_a_lease_it_stops_and_dies() -> None:
    generator, clock = started()
    drive(generator, clock, 2)
    clock.sleep(3.5)
    assert any(isinstance(report, Fault) and report.fatal for report in generator.reports())
    assert not generator.alive()


def test_scripted_faults_happen() -> None:
    with pytest.raises(EdgeError, match="no locust here"):
        started(faults=Faults(cannot_start="no locust here"))
    generator, clock = started(faults=Faults(dies_at=3.0))
    drive(generator, clock, 4)
    assert not generator.alive()
    with pytest.raises(EdgeError, match="gone"):
        generator.send(Quit())
    generator, clock = started(faults=Faults(never_acks=frozenset({2}), loses_worker_at=4.2))
    drive(generator, clock, 2)
    generator.send(order(1, 10))
    generator.send(order(2, 20))
    seen = drive(generator, clock, 4)
    assert [report.number for report in seen if isinstance(report, Ack)] == [1]
    last = [report for report in seen if isinstance(report, Interval)][-1]
    assert (len(last.workers), last.users) == (1, 5)
    generator, clock = started(faults=Faults(never_says_hello=True, never_drains=True))
    assert drive(generator, clock, 5) == []


def test_it_goes_when_it_is_told() -> None:
    for end in (lambda generator: generator.send(Quit()), RehearsalGenerator.kill):
        generator, clock = started()
        drive(generator, clock, 2)
        end(generator)
        assert not generator.alive()
