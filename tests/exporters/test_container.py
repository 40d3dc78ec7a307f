"""The container's own view, from both versions of cgroups and from where a limit is really set."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporters.host import container
from tests.exporters.trees import SNAPSHOTS, a_cgroup_v1, a_cgroup_v2, samples, write


@pytest.mark.parametrize(
    ("snapshot", "quota", "periods", "throttled_periods", "throttled_seconds"),
    [
        (("cgroup_v2", "t0"), 1.0, 100, 10, 0.5),
        (("cgroup_v2", "t30"), 1.0, 400, 100, 5.0),
        (("cgroup_v2_unlimited", "t0"), None, None, None, None),
        (("cgroup_v1", "t0"), None, 0, 0, 0.0),
        (("cgroup_v1", "t30"), 0.5, 300, 200, 12.0),
    ],
)
def test_throttling_is_in_seconds_from_both_versions(
    tmp_path: Path,
    snapshot: tuple[str, str],
    quota: float | None,
    periods: int | None,
    throttled_periods: int | None,
    throttled_seconds: float | None,
) -> None:
    files = SNAPSHOTS[snapshot[0]][snapshot[1]]
    a_tree = a_cgroup_v1 if snapshot[0] == "cgroup_v1" else a_cgroup_v2
    view = container.read_container(*a_tree(tmp_path, "/", files)).cpu
    assert view is not None
    assert (view.quota_cores, view.periods, view.throttled_periods, view.throttled_seconds) == (
        quota,
        periods,
        throttled_periods,
        throttled_seconds,
    )


def test_a_bare_tree_without_tables_is_read_at_the_usual_places(tmp_path: Path) -> None:
    root = write(tmp_path / "cgroup", SNAPSHOTS["cgroup_v1"]["t30"])
    reading = container.read_container(tmp_path / "proc", root)
    assert reading.cpu is not None
    assert reading.memory is not None
    assert (reading.cpu.quota_cores, reading.memory.limit) == (0.5, 536870912)


def test_memory_without_a_limit_has_no_limit_series(tmp_path: Path) -> None:
    for version, a_tree in (("cgroup_v1", a_cgroup_v1), ("cgroup_v2", a_cgroup_v2)):
        reading = container.read_container(*a_tree(tmp_path / version, "/", SNAPSHOTS[version]["t0"]))
        shown = samples(container.families(reading))
        assert not [key for key in shown if key[0] == "host_container_memory_limit_bytes"]


def test_the_working_set_leaves_inactive_page_cache_out(tmp_path: Path) -> None:
    v2 = {"memory.current": "1000\n", "memory.stat": "inactive_file 300\nactive_file 5\n"}
    v1 = {
        "memory/memory.usage_in_bytes": "1000\n",
        "memory/memory.stat": "inactive_file 1\ntotal_inactive_file 300\n",
    }
    for reading in (
        container.read_container(*a_cgroup_v2(tmp_path / "v2", "/", v2)),
        container.read_container(*a_cgroup_v1(tmp_path / "v1", "/", v1)),
    ):
        assert reading.memory is not None
        assert (reading.memory.usage, reading.memory.working_set) == (1000, 700)


def test_where_an_ancestor_binds_its_counters_are_shown_under_its_path(tmp_path: Path) -> None:
    files = {
        "pod/cpu.max": "50000 100000\n",
        "pod/cpu.stat": "usage_usec 9000000\nnr_periods 7\nnr_throttled 3\nthrottled_usec 250000\n",
        "pod/app/cpu.max": "max 100000\n",
        "pod/app/cpu.stat": "usage_usec 1000000\n",
    }
    reading = container.read_container(*a_cgroup_v2(tmp_path, "/pod/app", files))
    shown = samples(container.families(reading))
    assert shown["host_container_cpu_throttled_seconds_total", "/pod"] == 0.25
    assert shown["host_container_cpu_seconds_total", "/pod"] == 9.0


def test_a_version_1_mount_that_shows_the_own_cgroup_as_its_root_is_understood(tmp_path: Path) -> None:
    files = {
        "cpu/cpu.cfs_quota_us": "150000\n",
        "cpu/cpu.cfs_period_us": "100000\n",
        "cpuacct/cpuacct.usage": "2000000000\n",
    }
    reading = container.read_container(*a_cgroup_v1(tmp_path, "/docker/abc", files, mounted="/docker/abc"))
    assert reading.cpu is not None
    assert (reading.cpu.quota_cores, reading.cpu.seconds, reading.cpu.path) == (1.5, 2.0, "/docker/abc")
