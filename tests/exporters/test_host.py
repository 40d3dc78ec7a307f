"""The host collector on trees of captured kernel files: units, absent data, bounds and counters that step back."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporters.host import cpu, disk, load, memory, network, pressure, tcp
from exporters.host.collector import host_collector
from exporters.host.rules import parse
from exporters.names import host as names
from exporters.source import Result
from tests.exporters.trees import SNAPSHOTS, a_cgroup_v2, samples, write

FIXTURE = Path(__file__).with_name("fixtures") / "proc"


def test_every_source_of_a_captured_machine_is_read(tmp_path: Path) -> None:
    results = host_collector(FIXTURE, tmp_path).sample()
    assert {r.source: r.failure for r in results} == dict.fromkeys(
        ("cpu", "load", "memory", "pressure", "disk", "network", "tcp", "clock", "thermal", "container"), ""
    )
    values = _values(results)
    assert values["host_cpu_seconds_total", "system"] == 41.72
    assert values["host_cpu_cores",] == 2
    assert values["host_context_switches_total",] == 355103
    assert values["host_boot_time_seconds",] == 1796063689
    assert values["host_load5",] == 0.21
    assert values["host_run_queue_wait_seconds_total", "1"] == pytest.approx(3.25)
    assert values["host_file_descriptors",] == 377
    assert values["host_memory_available_bytes",] == 24339236 * 1024
    assert values["host_swap_read_bytes_total",] == 7 * 4096
    assert values["host_pressure_seconds_total", "cpu", "some"] == pytest.approx(9.120799)
    assert values["host_disk_read_bytes_total", "vda"] == 2557194 * 512
    assert values["host_disk_busy_seconds_total", "vda"] == pytest.approx(11.18)
    assert values["host_network_receive_bytes_total", "eth0"] == 370040100
    assert values["host_network_transmit_packets_total", "eth0"] == 5769
    assert values["host_tcp_sockets", "time_wait"] == 3
    assert values["host_tcp_sockets", "established"] == 12
    assert values["host_tcp_segments_retransmitted_total",] == 4
    assert values["host_tcp_listen_overflows_total",] == 6
    assert values["host_tcp_local_ports",] == 28232


def test_loops_ramdisks_and_partitions_are_no_disks() -> None:
    reading = disk.read_disk(FIXTURE)
    assert reading is not None
    assert list(reading.devices) == ["vda", "nvme0n1"]


def test_every_name_is_reached_by_the_fixture(tmp_path: Path) -> None:
    stat = "usage_usec 1\nnr_periods 1\nnr_throttled 0\nthrottled_usec 0\n"
    files = {
        "cpu.max": "50000 100000\n",
        "cpu.stat": stat,
        "memory.max": "1000\n",
        "memory.current": "500\n",
        "memory.stat": "inactive_file 100\n",
    }
    _, root = a_cgroup_v2(tmp_path, "/", files)
    rules = (parse("model=port:8500"), parse("model=name:tensorflow_model_server"))
    collector = host_collector(FIXTURE, root, FIXTURE.with_name("sys"), per_core=True, rules=rules)
    shown = {f.metric for r in collector.sample() for f in r.families if f.samples}
    only_sometimes = {names.CLOCK_OFFSET, names.CLOCK_ERROR, names.CLOCK_SYNCHRONIZED, names.CLOCK_STEP}
    assert set(names.ALL) - shown <= only_sometimes | {names.PROCESS_FAILURES}


def test_iowait_that_steps_back_is_held(tmp_path: Path) -> None:
    before = cpu.read_cpu(write(tmp_path, {"stat": SNAPSHOTS["proc_stat"]["t0"]}))
    after = cpu.read_cpu(write(tmp_path, {"stat": SNAPSHOTS["proc_stat"]["t30"]}), before)
    assert (before.seconds["iowait",], after.seconds["iowait",]) == (5482.81, 5482.81)
    assert (before.seconds["user",], after.seconds["user",]) == (10.0, 40.0)


def test_a_real_reset_is_not_held(tmp_path: Path) -> None:
    before = cpu.read_cpu(write(tmp_path, {"stat": "cpu 1000 0 0 900000 0 0 0 0 0 0\n"}))
    after = cpu.read_cpu(write(tmp_path, {"stat": "cpu 10 0 0 20 0 0 0 0 0 0\n"}), before)
    assert after.seconds["idle",] == 0.2


def test_network_counters_are_raw_and_a_vanished_device_ends_its_series(tmp_path: Path) -> None:
    found = []
    for moment in ("t0", "t30"):
        reading = network.read_network(write(tmp_path, {"net/dev": _net_dev(SNAPSHOTS["net"][moment])}))
        assert reading is not None
        found.append(samples(network.families(reading)))
    assert found[0]["host_network_receive_bytes_total", "eth0"] == 4294960000
    assert found[1]["host_network_receive_bytes_total", "eth0"] == 2704  # the wrap is Prometheus's business
    assert ("host_network_receive_bytes_total", "veth12ab") in found[0]
    assert not [key for key in found[1] if "veth12ab" in key]


def test_devices_are_bounded_and_the_rest_is_counted(tmp_path: Path) -> None:
    devices = {f"veth{n}": {"rx_bytes": n, "tx_bytes": n} for n in range(100)}
    reading = network.read_network(write(tmp_path, {"net/dev": _net_dev(devices)}))
    assert reading is not None
    assert len(reading.devices) == network.MOST_DEVICES
    assert samples(network.families(reading))["host_devices_left_out", "network"] == 36


def test_an_alias_with_a_colon_is_one_device(tmp_path: Path) -> None:
    reading = network.read_network(write(tmp_path, {"net/dev": _net_dev({"eth0:1": {"rx_bytes": 5, "tx_bytes": 6}})}))
    assert reading is not None
    assert list(reading.devices) == ["eth0:1"]


def test_what_a_machine_does_not_have_is_absent_and_no_failure(tmp_path: Path) -> None:
    proc = write(tmp_path, {"stat": "cpu 1 0 0 1\ncpu0 1 0 0 1\n", "loadavg": "64.0 60.0 50.0 1/2 3\n", "meminfo": ""})
    results = host_collector(proc, tmp_path / "none", tmp_path / "none").sample()
    assert {r.failure for r in results} == {""}
    values = _values(results)
    assert {name for name, *_ in values if not name.startswith("host_clock_")} == {
        "host_cpu_seconds_total",
        "host_cpu_cores",
        "host_load1",
        "host_load5",
        "host_load15",
        "host_container_info",
    }
    assert ("host_cpu_seconds_total", "steal") not in values
    assert values["host_container_info", "cpu", "unknown", "", "no_cgroup_mount_with_this_controller"] == 1


@pytest.mark.parametrize(
    ("name", "text", "source"),
    [
        ("stat", "cpu0 1 2\n", "cpu"),
        ("loadavg", "what\n", "load"),
        ("meminfo", "MemTotal: many kB\n", "memory"),
        ("net/dev", "\n\n eth0: 1 2 x\n", "network"),
        ("diskstats", "254 0 vda 1 2 3 4 5 6 7 8 nine 10 11\n", "disk"),
    ],
)
def test_a_source_that_makes_no_sense_fails_alone(tmp_path: Path, name: str, text: str, source: str) -> None:
    proc = write(tmp_path, {**_basic(), name: text})
    failures = {r.source: r.failure for r in host_collector(proc, tmp_path).sample() if r.failure}
    assert failures == {source: "malformed"}


def test_a_source_that_is_missing_although_it_must_be_there_fails_alone(tmp_path: Path) -> None:
    files = _basic()
    del files["stat"]
    failures = {r.source: r.failure for r in host_collector(write(tmp_path, files), tmp_path).sample() if r.failure}
    assert failures == {"cpu": "missing"}


def test_pressure_switched_off_is_absent(tmp_path: Path) -> None:
    assert pressure.read_pressure(tmp_path) is None


def test_readers_read_this_machine() -> None:
    proc = Path("/proc")
    if not (proc / "stat").exists():
        pytest.skip("this system has no /proc")
    assert sum(cpu.read_cpu(proc).seconds.values()) > 0
    assert len(load.read_load(proc).averages) == 3
    assert memory.read_memory(proc).sizes["MemTotal"] > 1 << 20
    sockets = tcp.read_tcp(proc)
    assert sockets is not None
    assert ("TCP", "inuse") in sockets.sockets


def _basic() -> dict[str, str]:
    return {
        "stat": "cpu 1 0 0 1\n",
        "loadavg": "0 0 0 1/2 3\n",
        "meminfo": "MemTotal: 1 kB\n",
        "net/dev": "\n\n",
        "diskstats": "",
    }


def _net_dev(devices: dict[str, dict[str, int]]) -> str:
    rows = (f"{name}: {d['rx_bytes']} 0 0 0 0 0 0 0 {d['tx_bytes']} 0 0 0 0 0 0 0" for name, d in devices.items())
    return "Inter-| Receive | Transmit\n face |bytes\n" + "\n".join(rows) + "\n"


def _values(results: tuple[Result, ...]) -> dict[tuple[str, ...], float]:
    return {key: value for r in results for key, value in samples(r.families).items()}
