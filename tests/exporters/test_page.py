"""The whole page, byte for byte, from captured readings; and as promtool sees it."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from exporters import page, text
from exporters.discipline import Discipline
from exporters.gpu import reading as gpu
from exporters.host import clock
from exporters.host.clock import ClockReading
from exporters.host.collector import host_collector
from exporters.host.rules import parse as parse_rule
from exporters.names import exporter, host
from exporters.names import gpu as gpu_names
from exporters.sampler import Sampled, State
from exporters.source import Result
from tests.exporters.running import an_exporter, parse
from tests.exporters.trees import a_cgroup_v2
from tests.needs import need

GOLDEN = Path(__file__).with_name("golden") / "metrics.txt"
FIXTURE = Path(__file__).with_name("fixtures") / "proc"


@pytest.fixture
def shown(tmp_path: Path) -> str:
    files = {
        "cpu.max": "50000 100000\n",
        "cpu.stat": "usage_usec 9000000\nnr_periods 7\nnr_throttled 3\nthrottled_usec 250000\n",
        "memory.max": "536870912\n",
        "memory.current": "1000000\n",
        "memory.stat": "inactive_file 300000\n",
    }
    _, root = a_cgroup_v2(tmp_path, "/", files)
    rules = (parse_rule("model=name:tensorflow_model_server"),)
    read = host_collector(FIXTURE, root, FIXTURE.with_name("sys"), per_core=True, rules=rules).sample()
    results = tuple(_steady(result) for result in read)
    states = [a_state("host", results), a_state("gpu", (Result("nvml", 0.002, "", gpu.families(two_gpus())),))]
    own = page.SelfReading(1.5, 31_000_000, 9, 1.8e9, 4, 0.003, "0.1.0", "3.11.2")
    body, content_type = text.render(page.families(states, own), accept="")
    assert content_type.startswith("text/plain; version=0.0.4")
    return body.decode()


@pytest.mark.golden
def test_the_page_is_the_golden_one(shown: str) -> None:
    if os.environ.get("STAGELIGHT_GOLDEN") == "write":
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(shown, encoding="utf-8")
    assert shown == GOLDEN.read_text(encoding="utf-8"), "if this is meant, run the tests with STAGELIGHT_GOLDEN=write"


def test_every_family_but_the_one_of_a_missing_gpu_is_on_it(shown: str) -> None:
    listed = {line.split()[2] for line in shown.splitlines() if line.startswith("# TYPE")}
    every = {metric.name for metric in (*host.ALL, *gpu_names.ALL, *exporter.ALL)}
    assert every - listed == {gpu_names.DOWN_INFO.name, host.PROCESS_FAILURES.name}
    assert listed <= every


def test_promtool_finds_nothing_to_complain_about(shown: str) -> None:
    assert _promtool_check(shown) == (0, "")


def test_promtool_finds_nothing_on_a_live_page() -> None:
    with an_exporter("host", "gpu") as running:
        live, _ = running.get()
    assert _promtool_check(live) == (0, "")


def test_a_page_of_no_sample_still_says_how_old_and_hung_it_is() -> None:
    state = dataclasses.replace(a_state("gpu", ()), sample=None, age_seconds=40.0, hung=True, timeouts=1)
    own = page.SelfReading(1.5, 31_000_000, None, 1.8e9, 0, None, "0.1.0", "3.11.2")
    series = parse(text.render(page.families([state], own), accept="")[0].decode())
    assert series["exporter_sample_age_seconds", (("collector", "gpu"),)] == 40.0
    assert series["exporter_collector_hung", (("collector", "gpu"),)] == 1
    assert not [
        name for name, _ in series if name.startswith(("gpu_", "exporter_source_success", "exporter_scrape_dur"))
    ]


def test_openmetrics_is_given_to_who_asks_for_it() -> None:
    own = page.SelfReading(1.5, 31_000_000, None, 1.8e9, 0, None, "0.1.0", "3.11.2")
    body, content_type = text.render(page.families([], own), accept="application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")


def _steady(result: Result) -> Result:
    """The result with what differs from run to run replaced: its duration, and everything of the clock."""
    step = ClockReading(Discipline(-0.0002, 0.016, True), 1.8e9, 1000.0, 1, -90.0)
    shown = clock.families(step) if result.source == "clock" else result.families
    return dataclasses.replace(result, seconds=0.001, families=shown)


def _promtool_check(shown: str) -> tuple[int, str]:
    command = [need("promtool"), "check", "metrics"]
    check = subprocess.run(command, check=False, input=shown, capture_output=True, text=True)
    return check.returncode, check.stdout + check.stderr


def a_state(collector: str, results: tuple[Result, ...]) -> State:
    failures = {("nvml", "operating_system"): 2} if collector == "gpu" else {}
    return State(collector, 1.0, Sampled(100.0, 100.25, results), 0.5, 12, 0, False, failures)


def two_gpus() -> gpu.Up:
    uuids = ("GPU-aaaaaaaa", "GPU-bbbbbbbb")
    measured: tuple[gpu.Measured, ...] = tuple(
        (metric, tuple("sm" for _ in metric.labels[1:]), 1.5)
        for metric in gpu_names.ALL
        if metric.labels[:1] == ("uuid",) and metric not in _ABOUT_DEVICES
    )
    devices = tuple(
        gpu.Device(
            gpu.Identity(uuid, str(n), f"0000:0{n}:00.0", "Stand-in"),
            "v2",
            measured,
            {"power": True, "energy": False},
            gpu.Instance("GPU-aaaaaaaa", "1", "0") if n else None,
        )
        for n, uuid in enumerate(uuids)
    )
    versions = gpu.Versions("550.54.15", "12.550.54.15", "12.4")
    xids = gpu.Xids({("GPU-aaaaaaaa", "31"): 2}, {("GPU-aaaaaaaa", "31"): 1.8e9}, {"GPU-aaaaaaaa": True})
    return gpu.Up(versions, 2, devices, ("GPU-cccccccc",), {("GPU-aaaaaaaa", "power", "unknown"): 3}, xids=xids)


_ABOUT_DEVICES = (
    gpu_names.DEVICE_INFO,
    gpu_names.DEVICE_UP,
    gpu_names.DEVICE_HUNG,
    gpu_names.DEVICE_TIMEOUTS,
    gpu_names.INSTANCE_INFO,
    gpu_names.FIELD_SUPPORTED,
    gpu_names.FIELD_FAILURES,
    gpu_names.XID_EVENTS,
    gpu_names.XID_LAST,
)
