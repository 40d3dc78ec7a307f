"""The canary's thread against real servers: counted, bounded, held up by nobody and holding up nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from controller.edges.canary import CanaryThread, canary_for
from controller.figures.canary import Probe
from controller.plans.plan import Locustfile, Payloads, Plan, Workload
from controller.plans.plan import Target as PlanTarget
from tests.controller.builders import a_plan
from tests.controller.generator.grpc_server import a_grpc_server
from tests.controller.generator.target import Target


def plan_for(target: Target, timeout: float = 1.0) -> Plan:
    workload = Workload(Payloads(random_shape=(16,), count=3), timeout=timedelta(seconds=timeout))
    return a_plan(target=PlanTarget("tfserving", target.url, "scorer"), workload=workload)


@contextmanager
def singing(target: Target, period: float = 0.05, timeout: float = 1.0) -> Iterator[CanaryThread]:
    canary = CanaryThread(plan_for(target, timeout), period)
    try:
        canary.sing(now=True)
        yield canary
    finally:
        canary.stop()
        target.stop()


def wait_for(canary: CanaryThread, number: int, seconds: float = 20.0) -> Sequence[Probe]:
    found: list[Probe] = []
    deadline = time.monotonic() + seconds
    while len(found) < number and time.monotonic() < deadline:
        found.extend(canary.probes())
        time.sleep(0.02)
    assert len(found) >= number
    return found


def test_probes_are_timed_counted_and_go_to_the_target() -> None:
    target = Target(delay=0.02)
    with singing(target) as canary:
        found = wait_for(canary, 4)
        canary.sing(now=False)
        time.sleep(0.3)
        assert sum(canary.counts().values()) == target.count
    assert {probe.outcome for probe in found} == {"ok"}
    assert all(0.02 <= probe.took < 5 for probe in found)
    assert abs(found[-1].end - time.time()) < 10
    assert len(target.bodies) == 3  # the workload's own requests in turn


def test_nothing_is_sent_before_it_is_let_nor_after() -> None:
    target = Target()
    canary = CanaryThread(plan_for(target), 0.02)
    time.sleep(0.2)
    assert canary.counts() == {}
    canary.sing(now=True)
    wait_for(canary, 2)
    canary.stop()
    time.sleep(0.2)
    before = target.count
    time.sleep(0.3)
    assert target.count == before
    target.stop()


@pytest.mark.parametrize(("behaviour", "outcome"), [("http_error", "not_ok"), ("hang_up", "connection_error")])
def test_a_failed_probe_is_counted_by_what_became_of_it(behaviour: str, outcome: str) -> None:
    with singing(Target((behaviour,))) as canary:
        assert {probe.outcome for probe in wait_for(canary, 2)} == {outcome}
        assert set(canary.counts()) - {"unanswered"} == {outcome}


def test_a_silent_target_holds_up_one_probe_and_nobody_else() -> None:
    with singing(Target(("silent",)), timeout=0.3) as canary:
        begun = time.monotonic()
        assert wait_for(canary, 1)[0].outcome == "timeout"
        canary.sing(now=False)
        canary.stop()
        canary.probes()
        assert time.monotonic() - begun < 20


def test_a_target_that_is_gone_costs_nothing_but_probes() -> None:
    target = Target()
    target.stop()
    with_nobody = CanaryThread(plan_for(target), 0.02)
    with_nobody.sing(now=True)
    assert wait_for(with_nobody, 1)[0].outcome == "connection_error"
    with_nobody.stop()


def test_it_goes_over_grpc_where_the_load_does() -> None:
    with a_grpc_server() as served:
        target = PlanTarget("tfserving", model="m", grpc=f"127.0.0.1:{served.port}")
        workload = Workload(Payloads(from_model=True, count=3), protocol="grpc", timeout=timedelta(seconds=3))
        canary = CanaryThread(a_plan(target=target, workload=workload), 0.05)
        canary.sing(now=True)
        found = wait_for(canary, 3)
        canary.stop()
        assert {probe.outcome for probe in found} == {"ok"}
        assert len(served.seen) >= 3


def test_the_plan_says_whether_there_is_one() -> None:
    own = Workload(Payloads(), locustfile=Locustfile(Path("users.py")))
    assert canary_for(a_plan()) is not None
    assert canary_for(a_plan(canary=None)) is None
    assert canary_for(a_plan(workload=own)) is None


def test_a_doubt_makes_probes_follow_each_other_at_once_and_no_longer_than_it_lasts() -> None:
    with singing(Target(), period=30.0) as canary:
        time.sleep(0.5)
        assert canary.counts() == {}
        canary.hurry(now=True)
        wait_for(canary, 3)
        canary.hurry(now=False)
        sent, deadline = -1, time.monotonic() + 15
        while sent != (sent := sum(canary.counts().values())) and time.monotonic() < deadline:
            time.sleep(1.0)
        assert time.monotonic() < deadline, f"{sent} probes, and no end of them"
