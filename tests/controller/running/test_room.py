"""A plan's needs by Little's law, held against what a machine gives: fit, warned of or refused, with its numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.edges.rehearsal import RehearsalProbe
from controller.edges.room_probe import RoomProbe
from controller.generator.own_room import read_room
from controller.plans.plan import Hold, OpenLoop, Payloads, Plan, Workload
from controller.plans.timetable import lay_out
from controller.ports import Finding
from controller.running.room import SPARE_DESCRIPTORS, Need, Room, findings, need_of
from exporters.loadgen_limits import in_force
from tests.controller.builders import a_plan, seconds

AMPLE = Room(
    descriptors=65_536, ports=28_232, sockets=20, cores=16, memory=8 * 10**9, disk=10**11, clock="tsc",
    clock_synchronised=True,
)  # fmt: skip


def closed(users: int, **changes: object) -> Plan:
    return a_plan(Hold("steady", load=users, lasts=seconds(60)), **changes)


def opened(rate: float, most: int = 100_000, timeout: float = 3.0, **changes: object) -> Plan:
    workload = Workload(Payloads(random_shape=(16,)), timeout=timedelta(seconds=timeout))
    stage = Hold("steady", load=rate, lasts=seconds(60), loop=OpenLoop(max_in_flight=most))
    return a_plan(stage, workload=workload, **changes)


def need(plan: Plan, took: float | None = 0.01) -> Need:
    return need_of(plan, lay_out(plan), took)


def found(plan: Plan, room: Room, took: float | None = 0.01) -> dict[str, Finding]:
    checks = findings(need(plan, took), room, in_force(plan.generator_limits))
    return {finding.check.removeprefix("generator "): finding for finding in checks}


def test_users_each_need_a_connection_and_an_open_loop_needs_rate_times_latency() -> None:
    assert (need(closed(40)).likely, need(closed(40)).most) == (40, 40)
    assert (need(opened(1000), 0.05).likely, need(opened(1000), 0.05).most) == (50, 3000)
    assert need(opened(1000), None).likely == 3000  # nothing was measured: the timeout stands for it
    assert need(opened(1000, most=20), 0.05).likely == 20  # no more than there are slots
    assert need(opened(1000, workers=4, remote_workers=2), 0.05).likely == 25  # half of them are made elsewhere


def test_with_room_for_everything_all_is_fit() -> None:
    assert {finding.severity for finding in found(closed(40), AMPLE).values()} == {"ok"}


@pytest.mark.parametrize(
    ("check", "plan", "room", "severity", "words"),
    [
        ("descriptors", closed(60), {"descriptors": 48}, "refuse", "92 open files in each of 1 worker(s) (60 users)"),
        ("descriptors", closed(60), {"descriptors": 100}, "warn", "allowed are 100"),
        ("descriptors", closed(60, workers=4), {"descriptors": 100}, "ok", "47 open files in each of 4"),
        ("descriptors", opened(100), {"descriptors": 256}, "warn", "332 if every answer takes the whole timeout"),
        ("ports", closed(110), {"ports": 100}, "refuse", "ip_local_port_range"),
        ("ports", closed(60), {"ports": 100, "sockets": 30}, "warn", "30 sockets in use"),
        ("cores", closed(8, workers=4), {"cores": 2}, "warn", "4 worker(s), 2 core(s)"),
        ("cores", closed(8), {"quota": 0.5}, "warn", "raise the quota"),
        ("cores", opened(15_000, most=200), {}, "warn", "about 0.900 cores for 15,000/s"),
        ("memory", closed(60, workers=10), {"memory": 10**9}, "refuse", "about 1,102 MB for 10 worker(s)"),
        ("memory", closed(60, workers=10), {"memory": 1_150_000_000}, "warn", "memory may run out"),
        ("disk", closed(60), {"disk": 10**6}, "refuse", "free some disk"),
        ("clock", closed(60), {"clock": "hpet"}, "warn", "choose tsc or kvm-clock"),
        ("clock", closed(60), {"clock_synchronised": False}, "ok", "not synchronised"),
    ],
)
def test_what_is_short_is_said_with_its_numbers_and_what_to_do(
    check: str, plan: Plan, room: dict[str, object], severity: str, words: str
) -> None:
    all_found = found(plan, replace(AMPLE, **room))  # type: ignore[arg-type]
    assert all_found[check].severity == severity
    assert words in all_found[check].sentence
    assert {one.severity for name, one in all_found.items() if name != check} <= {"ok"}


def test_limits_of_the_plan_are_those_that_warn() -> None:
    room = replace(AMPLE, descriptors=100)
    assert found(closed(60), room)["descriptors"].severity == "warn"
    assert found(closed(60, generator_limits=(("descriptors", 1.0),)), room)["descriptors"].severity == "ok"


def test_what_could_not_be_read_is_unknown_and_holds_up_nothing() -> None:
    nothing = found(closed(60), Room())
    assert {finding.severity for finding in nothing.values()} == {"ok"}
    assert all(finding.sentence.startswith("unknown: ") for finding in nothing.values())


@given(st.integers(1, 5000), st.integers(1, 64), st.integers(40, 100_000))
def test_more_descriptors_or_workers_never_make_it_worse(users: int, workers: int, descriptors: int) -> None:
    order = ["ok", "warn", "refuse"]

    def severity(more_workers: int, more: int) -> int:
        plan = closed(users, workers=workers + more_workers)
        room = replace(AMPLE, descriptors=descriptors + more)
        return order.index(found(plan, room)["descriptors"].severity)

    assert severity(0, 1000) <= severity(0, 0)
    assert severity(5, 0) <= severity(0, 0)
    assert (severity(0, 0) == 2) == (-(-users // workers) + SPARE_DESCRIPTORS > descriptors)


def test_this_machine_can_be_read(tmp_path: Path) -> None:
    room = read_room(tmp_path / "not" / "made" / "yet")
    assert room.descriptors is not None
    assert room.descriptors >= 256
    assert room.cores is not None
    assert room.cores >= 1
    assert room.disk is not None
    assert room.disk > 0
    assert room.memory is None or room.memory > 0
    assert room.ports is None or room.ports > 0


def test_the_machine_is_looked_at_after_a_fit_target_only(tmp_path: Path) -> None:
    fit = RehearsalProbe((Finding("trial", True, "ten requests", seconds=0.02),))
    assert [one.check for one in RoomProbe(fit, tmp_path).preflight(closed(5))][1:] == [
        f"generator {name}" for name in ("descriptors", "ports", "cores", "memory", "disk", "clock")
    ]
    unfit = RehearsalProbe((Finding("health", False, "it is down"),))
    assert [one.check for one in RoomProbe(unfit, tmp_path).preflight(closed(5))] == ["health"]
