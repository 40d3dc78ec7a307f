"""What a process uses and may use, from fixture trees of both cgroup versions and from this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from exporters.loadgen_readings import Reader
from tests.exporters.trees import a_cgroup_v1, a_cgroup_v2, write

MIB = 1024 * 1024
V2_STAT = "usage_usec 2500000\nnr_periods 40\nnr_throttled 12\nthrottled_usec 1500000\n"
V1_STAT = "nr_periods 40\nnr_throttled 12\nthrottled_time 1500000000\n"


def test_version_2_quota_throttling_memory_and_pressure_of_the_own_cgroup(tmp_path: Path) -> None:
    proc, root = a_cgroup_v2(
        tmp_path,
        "/a/b",
        {
            "a/cpu.max": "50000 100000\n",
            "a/cpu.stat": V2_STAT,
            "a/b/cpu.max": "200000 100000\n",
            "a/b/cpu.stat": "usage_usec 9\n",
            "a/b/cpu.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\nfull avg10=0.00 total=7\n",
            "a/b/memory.max": f"{100 * MIB}\n",
            "a/b/memory.current": f"{90 * MIB}\n",
            "a/b/memory.stat": f"anon 1\ninactive_file {30 * MIB}\n",
        },
    )
    write(proc, {"pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n"})
    found = Reader(proc, root).read()
    assert (found.quota_cores, found.group_cpu_seconds) == (0.5, 2.5)
    assert found.quota_folder == str(root / "a")
    ((folder, throttling),) = found.throttling
    assert (folder, throttling.periods, throttling.throttled, throttling.seconds) == (str(root / "a"), 40, 12, 1.5)
    assert (found.group_limit, found.group_bytes) == (100 * MIB, 60 * MIB)  # without the cache that can go at once
    assert found.pressure == (("cpu", 2.0), ("io", 0.5))
    assert found.own_pressure == ("cpu",)  # io is not counted by this cgroup: the host's


def test_version_1_says_the_same_in_the_same_units(tmp_path: Path) -> None:
    files = {
        "cpu/cpu.cfs_quota_us": "-1\n",
        "cpu/box/cpu.cfs_quota_us": "25000\n",
        "cpu/box/cpu.cfs_period_us": "100000\n",
        "cpu/box/cpu.stat": V1_STAT,
        "cpuacct/box/cpuacct.usage": "2500000000\n",
        "memory/box/memory.limit_in_bytes": f"{100 * MIB}\n",
        "memory/box/memory.usage_in_bytes": f"{50 * MIB}\n",
    }
    found = Reader(*a_cgroup_v1(tmp_path, "/box", files)).read()
    assert (found.quota_cores, found.group_cpu_seconds) == (0.25, 2.5)
    assert [(t.periods, t.throttled, t.seconds) for _, t in found.throttling] == [(40, 12, 1.5)]
    assert (found.group_limit, found.group_bytes) == (100 * MIB, 50 * MIB)  # far from it the cache does not matter


def test_no_quota_and_no_files_are_unknown_and_not_zero(tmp_path: Path) -> None:
    proc, root = a_cgroup_v2(tmp_path, "/", {"cpu.stat": "usage_usec 5\n"})
    found = Reader(proc, root).read()
    assert (found.quota_cores, found.throttling, found.pressure) == (None, (), ())
    assert (found.sockets, found.ports, found.descriptors, found.resident_bytes) == (None, None, None, None)


def test_sockets_of_both_families_and_the_range_of_ports(tmp_path: Path) -> None:
    proc = write(
        tmp_path,
        {
            "net/sockstat": "sockets: used 17\nTCP: inuse 5 orphan 0 tw 3 alloc 6 mem 1\nUDP: inuse 0 mem 0\n",
            "net/sockstat6": "TCP6: inuse 2\nUDP6: inuse 1\n",
            "sys/net/ipv4/ip_local_port_range": "32768\t32867\n",
        },
    )
    found = Reader(proc, tmp_path).read()
    assert (found.sockets, found.time_wait, found.ports) == (7, 3, 100)


def test_a_process_that_is_moved_is_looked_for_in_its_new_cgroup(tmp_path: Path) -> None:
    proc, root = a_cgroup_v2(tmp_path, "/a", {"a/cpu.max": "max 100000\n", "b/cpu.max": "50000 100000\n"})
    reader = Reader(proc, root)
    assert reader.read().quota_cores is None
    (proc / "self" / "cgroup").write_text("0::/b\n")
    deadline = time.monotonic() + 20
    while (quota := reader.read().quota_cores) is None and time.monotonic() < deadline:
        time.sleep(0.2)
    assert quota == 0.5


def test_a_busy_process_reads_as_busy_and_knows_its_sizes() -> None:
    reader = Reader()
    before = reader.read()
    until = time.thread_time() + 0.1
    while time.thread_time() < until:
        pass
    after = reader.read()
    assert 0.1 <= after.cpu_seconds - before.cpu_seconds <= (after.at - before.at) * 1.1
    assert (after.resident_bytes or 0) > MIB
    assert (after.address_bytes or 0) > (after.resident_bytes or 0)
    assert after.run_delay_seconds is not None
    assert before.run_delay_seconds is not None
    assert after.run_delay_seconds >= before.run_delay_seconds


def test_open_files_are_counted() -> None:
    before = Reader().read().descriptors or 0
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(40)]
    after = Reader().read().descriptors or 0
    for descriptor in kept:
        os.close(descriptor)
    assert 35 <= after - before <= 45


def test_without_a_descriptor_left_the_reading_is_the_limit() -> None:
    code = (
        "import os, resource; from exporters.loadgen_readings import Reader\n"
        "reader = Reader(); reader.read(); resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); kept = []\n"
        "try:\n    while True: kept.append(os.open('/dev/null', os.O_RDONLY))\n"
        "except OSError: pass\n"
        "found = reader.read(); print(found.descriptors, found.descriptor_limit, found.run_delay_seconds is not None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["64", "64", "True"]  # what was open stays readable


def test_the_sending_thread_is_looked_at_and_not_the_main_one() -> None:
    found: list[float | None] = []
    thread = threading.Thread(target=lambda: found.append(Reader().read().run_delay_seconds))
    thread.start()
    thread.join(10)
    assert len(found) == 1
    assert found[0] is not None
    assert found[0] < 5.0  # it is young


def test_a_reading_costs_less_than_five_milliseconds() -> None:
    reader = Reader()
    started = time.process_time()
    for _ in range(20):
        reader.read()
    assert (time.process_time() - started) / 20 < 0.005
