"""A generator's distance to its limits: figures by hand, second after second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exporters.cgroup import Throttling
from exporters.loadgen import Beat, Load, Signal, loop_lag, saturation, signals
from exporters.loadgen_limits import in_force
from exporters.loadgen_readings import Reading
from exporters.names.loadgen import SIGNALS

LIMITS = in_force()
STILL = Reading(at=100.0, wall=1e9, cpu_seconds=5.0)


def after(seconds: float = 3.0, before: Reading = STILL, **changes: Any) -> Reading:
    """A reading so much later, the clocks in step."""
    return replace(before, at=before.at + seconds, wall=before.wall + seconds, **changes)


def seen(last: Reading, first: Reading = STILL, *, load: Load | None = None, **more: Any) -> dict[str, float]:
    """Each signal's value, in its own unit, over one beat from the first reading to the last."""
    found = signals([Beat(first), Beat(last, load=load or Load(), **more)], LIMITS)
    return {signal.name: signal.value for signal in found}


@pytest.mark.parametrize(
    ("cpu", "wall", "quota", "group", "expected"),
    [
        (0.475, 1.0, None, None, 0.475),
        (1.9, 2.0, 4.0, None, 0.95),  # one interpreter lock: a wide quota does not help
        (0.475, 1.0, 0.5, None, 0.95),  # half a core is all there is
        (0.3, 1.0, 1.0, 0.95, 0.95),  # its neighbours in the cgroup use up the shared quota
        (0.5, 1.0, 0.0, None, 0.5),  # a quota of nothing is not a quota
    ],
)
def test_cpu_is_measured_against_one_core_and_against_the_quota(
    cpu: float, wall: float, quota: float | None, group: float | None, expected: float
) -> None:
    known = replace(STILL, quota_cores=quota, group_cpu_seconds=7.0)
    last = after(wall, known, cpu_seconds=5.0 + cpu, group_cpu_seconds=None if group is None else 7.0 + group)
    assert seen(last, known)["cpu"] == pytest.approx(expected)


def test_another_cgroups_cpu_time_is_not_subtracted() -> None:
    before = replace(STILL, quota_cores=1.0, quota_folder="/a", group_cpu_seconds=7.0)
    last = after(1.0, before, quota_folder="/b", group_cpu_seconds=900.0)
    assert seen(last, before)["cpu"] == 0.0


def test_loop_lag_is_the_99th_percentile_or_a_tenth_of_one_long_delay_or_what_is_usual() -> None:
    quiet, late = [0.001] * 148, 0.040
    assert loop_lag([*quiet, late]) == pytest.approx(0.004)  # one hiccup is no percentile
    assert loop_lag([*quiet, late, late]) == pytest.approx(0.040)
    assert loop_lag([*quiet, 2.0]) == pytest.approx(0.2)  # it stood still: that is ten times the limit
    assert loop_lag([0.005] * 80 + [0.001] * 70) == pytest.approx(0.020)  # half of all wait for somebody else
    assert loop_lag([]) is None


def test_throttling_is_the_worst_share_of_periods_over_own_cgroup_and_ancestors() -> None:
    before = replace(STILL, throttling=(("/a", Throttling(10, 1, 0.1)), ("/", Throttling(50, 0, None))))
    last = after(3.0, before, throttling=(("/a", Throttling(40, 10, 0.9)), ("/", Throttling(80, 3, None))))
    assert seen(last, before)["throttling"] == pytest.approx(9 / 30)  # 0.4 of the CPU may have been in use
    assert seen(after(3.0, before), before)["throttling"] == 0.0  # a quota, and nothing ran
    assert "throttling" not in seen(after())  # no counters: not measured


def test_shares_of_time_are_differences_of_counters() -> None:
    before = replace(STILL, run_delay_seconds=40.0, pressure=(("cpu", 9.0), ("io", 2.0)))
    last = after(3.0, before, run_delay_seconds=40.6, pressure=(("cpu", 12.0), ("io", 3.5)))
    assert seen(replace(last, own_pressure=("cpu",)), before)["pressure"] == pytest.approx(1.0)
    # the host's CPU may be the target's
    found = seen(last, before)
    assert found["run_queue"] == pytest.approx(0.2)
    assert found["pressure"] == pytest.approx(0.5)


def test_sockets_and_descriptors_are_held_against_what_may_be_had() -> None:
    found = seen(after(sockets=60, time_wait=20, ports=100, descriptors=63, descriptor_limit=64))
    assert (found["sockets"], found["descriptors"]) == (0.8, 63 / 64)
    assert not {"sockets", "descriptors"} & set(seen(after(sockets=60, descriptors=63)))


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"group_bytes": 90, "group_limit": 100.0}, 0.9),
        ({"resident_bytes": 50, "group_bytes": 40, "group_limit": 100.0}, 0.5),
        ({"address_bytes": 95, "address_limit": 100, "resident_bytes": 1}, 0.95),
        ({"resident_bytes": 30, "available_bytes": 70}, 0.3),  # the host's is the last limit
        ({"resident_bytes": 30}, None),
    ],
)
def test_memory_is_held_against_the_tightest_limit(known: dict[str, Any], expected: float | None) -> None:
    assert seen(after(**known)).get("memory") == expected


def test_lateness_needs_more_than_one_late_request() -> None:
    assert seen(after(), load=Load({100: 198, 30_000: 2}, due=200))["lateness"] == pytest.approx(0.0001)
    assert seen(after(), load=Load({100: 197, 30_000: 3}, due=200))["lateness"] == pytest.approx(0.030)
    assert seen(after(), load=Load({100: 2, 30_000: 1}, due=3))["lateness"] == pytest.approx(0.0001)
    assert "lateness" not in seen(after(), load=Load({30_000: 1}, due=1))


def test_arrivals_are_missing_when_they_wait_or_have_no_right_to_leave() -> None:
    assert seen(after(), load=Load(due=100, behind=0.3))["arrivals"] == pytest.approx(0.1)
    assert seen(after(), load=Load(due=100, unsent=5))["arrivals"] == pytest.approx(0.05)
    assert "arrivals" not in seen(after())


def test_a_slow_target_raises_nothing() -> None:
    """Every user waits, every slot is held: arrivals without a slot are no fault of the generator."""
    closed = seen(after(cpu_seconds=5.01), load=Load(asked=10, running=10))
    opened = seen(after(cpu_seconds=5.01), load=Load(due=300, behind=0.001))
    for found in (closed, opened):
        assert max(value / LIMITS[name] for name, value in found.items()) < 0.1


def test_users_that_do_not_run_are_a_deficit_once_they_had_time_to_start() -> None:
    short, full = Load(asked=20, running=3), Load(asked=20, running=25)  # those who leave still finish
    reading = after(1.0)
    assert seen(reading, load=short)["users"] == pytest.approx(0.85)
    assert seen(reading, load=full)["users"] == 0.0
    beats = [Beat(STILL), Beat(reading, load=full), Beat(after(2.0), load=short)]
    assert {s.name: s.value for s in signals(beats, LIMITS)}["users"] == 0.0
    assert "users" not in seen(reading)


def test_pauses_of_the_collector_and_steps_of_the_clock() -> None:
    assert seen(after(), gc_seconds=0.15)["gc"] == pytest.approx(0.05)
    assert seen(replace(after(), wall=1e9 + 5.0))["clock"] == pytest.approx(2.0)
    assert seen(replace(after(), wall=1e9 + 1.0))["clock"] == pytest.approx(2.0)


def test_errors_are_faults_of_this_machine_of_all_requests() -> None:
    assert seen(after(), load=Load(requests=500, faults=1))["errors"] == pytest.approx(0.002)
    assert seen(after(), load=Load(requests=0, faults=3))["errors"] == 1.0  # nothing else came through
    assert seen(after(), load=Load(requests=5))["errors"] == 0.0
    assert "errors" not in seen(after())


def test_what_was_not_read_has_no_signal() -> None:
    assert signals([Beat(STILL)], LIMITS) == ()
    assert signals([Beat(STILL), Beat(STILL)], LIMITS) == ()
    assert set(seen(after())) == {"cpu", "clock"}


def test_saturation_is_the_value_over_the_limit_in_force() -> None:
    assert saturation([Signal("cpu", 0.95, 0.95), Signal("gc", 0.025, 0.05)]) == {"cpu": 1.0, "gc": 0.5}
    (cpu, *_) = signals([Beat(STILL), Beat(after(1.0, cpu_seconds=5.5))], in_force([("cpu", 0.5)]))
    assert cpu.saturation == pytest.approx(1.0)


def test_every_signal_has_its_name_in_the_contract() -> None:
    last = after(run_delay_seconds=1.0, sockets=1, ports=10, descriptors=1, descriptor_limit=10)
    assert set(seen(last, load=Load(requests=1), lags=[0.1], gc_seconds=0.0)) <= set(SIGNALS)
