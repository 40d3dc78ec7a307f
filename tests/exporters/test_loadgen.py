"""A generator's distance to its limits: figures by hand, a fixture cgroup, and a process that really is held back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from exporters import loadgen
from exporters.loadgen import Signal, read_process, saturation, signals
from exporters.names.loadgen import SIGNALS
from tests.exporters.trees import a_cgroup_v1, a_cgroup_v2


@pytest.mark.parametrize(
    ("cpu", "wall", "quota", "group", "expected"),
    [
        (0.475, 1.0, None, None, 0.5),
        (0.95, 1.0, None, None, 1.0),
        (1.9, 2.0, 4.0, None, 1.0),  # one interpreter lock: a wide quota does not help
        (0.475, 1.0, 0.5, None, 1.0),  # half a core is all there is
        (0.3, 1.0, 1.0, 0.95, 1.0),  # its neighbours in the cgroup use up the shared quota
        (0.5, 1.0, 0.0, None, 0.5 / 0.95),  # a quota of nothing is not a quota
    ],
)
def test_cpu_is_measured_against_one_core_and_against_the_quota(
    cpu: float, wall: float, quota: float | None, group: float | None, expected: float
) -> None:
    (signal,) = signals(cpu, wall, quota, [], group_cpu_seconds=group)
    assert signal.name == "cpu"
    assert signal.saturation == pytest.approx(expected)


def test_loop_lag_is_the_99th_percentile_against_20_milliseconds() -> None:
    quiet, late = [0.001] * 99, [0.040]
    assert _lag(quiet + late) == pytest.approx(0.05)  # rank 99 of 100 is the last quiet one
    assert _lag(quiet + late * 2) == pytest.approx(2.0)
    assert _lag([0.020]) == pytest.approx(1.0)


def test_what_was_not_read_has_no_signal() -> None:
    assert signals(0.5, 0.0, None, []) == ()


def test_saturation_keeps_the_worst_reading_of_a_name() -> None:
    readings = (Signal("cpu", 0.19, 0.95, "ratio"), Signal("cpu", 0.95, 0.95, "ratio"))
    assert saturation(readings) == {"cpu": 1.0}


def test_every_signal_has_its_name_in_the_contract() -> None:
    assert {s.name for s in signals(0.1, 1.0, None, [0.001])} <= set(SIGNALS)


def test_a_busy_process_reads_as_busy() -> None:
    before, started = read_process(), time.perf_counter()
    spent_until = time.thread_time() + 0.1
    while time.thread_time() < spent_until:
        pass
    after, wall = read_process(), time.perf_counter() - started
    assert 0.1 <= after.cpu_seconds - before.cpu_seconds <= wall * 1.1
    assert after.resident_bytes > 1_000_000


def test_the_quota_is_the_tightest_over_the_ancestors_in_both_versions(tmp_path: Path) -> None:
    v2 = a_cgroup_v2(tmp_path / "v2", "/a/b", {"a/cpu.max": "50000 100000\n", "a/b/cpu.max": "200000 100000\n"})
    assert read_process(*v2).quota_cores == 0.5
    v1 = a_cgroup_v1(tmp_path / "v1", "/", {"cpu/cpu.cfs_quota_us": "25000\n", "cpu/cpu.cfs_period_us": "100000\n"})
    assert read_process(*v1).quota_cores == 0.25


def test_reading_costs_less_than_five_milliseconds() -> None:
    read_process()
    started = time.process_time()
    for _ in range(20):
        read_process()
    assert (time.process_time() - started) / 20 < 0.005


def _lag(lags: list[float]) -> float:
    return {s.name: s.saturation for s in signals(0.0, 1.0, None, lags)}["loop_lag"]


def test_limits_are_the_documented_ones() -> None:
    assert (loadgen.CPU_LIMIT_RATIO, loadgen.LOOP_LAG_LIMIT_SECONDS) == (0.95, 0.020)
