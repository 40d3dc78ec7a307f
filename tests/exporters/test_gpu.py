"""The GPU collector over the real pynvml and a real shared library that stands in for the driver's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exporters.names import gpu as names
from tests.exporters.nvml import Standin, a_device, a_system, build
from tests.exporters.running import Series, an_exporter

A, B = "GPU-aaaaaaaa", "GPU-bbbbbbbb"
FAST = ("gpu", "--interval", "100ms", "--deadline", "500ms")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Standin:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def standin(library: Standin) -> Standin:
    (library.folder / "calls").unlink(missing_ok=True)
    library.script(a_system(), a_device(0, A), a_device(1, B, temperature="error 3"))
    return library


def test_without_a_library_the_exporter_says_so_and_stays_up(tmp_path: Path) -> None:
    # a broken file where the loader looks first: so that the test also holds on a machine with a driver
    (tmp_path / "libnvidia-ml.so.1").touch()
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    with an_exporter(*FAST, environment=environment) as exporter:
        series = exporter.series()
        assert series["gpu_exporter_up", ()] == 0
        assert series["gpu_exporter_down_info", (("reason", "library_not_found"),)] == 1
        assert _of(series, "gpu_") == {"gpu_exporter_up", "gpu_exporter_down_info"}
        time.sleep(0.5)
        assert exporter.process.poll() is None
        exporter.process.send_signal(signal.SIGTERM)
        _, log = exporter.process.communicate(timeout=5)
    assert log.count("no GPU can be read") == 1


def test_two_devices_in_base_units_keyed_by_uuid(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    expected = {
        "gpu_utilization_ratio": 0.75,
        "gpu_memory_activity_ratio": 0.40,
        "gpu_memory_total_bytes": 85899345920,
        "gpu_memory_used_bytes": 1073741824,
        "gpu_memory_reserved_bytes": 536870912,
        "gpu_power_draw_watts": 312.5,
        "gpu_power_limit_watts": 700,
        "gpu_energy_joules_total": 123456.789,
        "gpu_temperature_celsius": 61,
        "gpu_pcie_transmit_bytes_per_second": 2e6,
        "gpu_pcie_receive_bytes_per_second": 3e6,
        "gpu_pcie_link_lanes": 16,
        "gpu_performance_state": 0,
        "gpu_device_up": 1,
    }
    assert {name: series[name, (("uuid", A),)] for name in expected} == pytest.approx(expected)
    assert series["gpu_clock_hertz", (("clock", "memory"), ("uuid", A))] == 2619e6
    active = {dict(labels)["reason"] for (name, labels), value in series.items() if "throttle" in name and value}
    assert active == {"software_power_cap", "software_thermal"}
    assert series["gpu_devices", ()] == 2
    assert series["gpu_driver_info", (("cuda", "12.4"), ("driver", "550.54.15"), ("nvml", "12.550.54.15"))] == 1
    info = {"uuid": A, "index": "0", "bus_id": "00000000:00:00.0", "model": "NVIDIA Stand-in 80GB", "memory_api": "v2"}
    assert series["gpu_device_info", tuple(sorted(info.items()))] == 1


def test_an_unsupported_field_is_absent_and_takes_no_other_with_it(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    assert ("gpu_temperature_celsius", (("uuid", B),)) not in series
    assert series["gpu_field_supported", (("field", "temperature"), ("uuid", B))] == 0
    assert series["gpu_field_supported", (("field", "temperature"), ("uuid", A))] == 1
    assert series["gpu_power_draw_watts", (("uuid", B),)] == 312.5
    # the library does not even have this function
    assert series["gpu_field_supported", (("field", "pcie_generation"), ("uuid", A))] == 0


def test_an_unsupported_field_is_asked_again_only_after_ten_minutes(standin: Standin) -> None:
    program = """
import json
import os
from exporters.gpu.reader import GpuReader
now = 0.0
reader = GpuReader(lambda: now)
for poll in range(100):
    now = poll * 12.0  # twenty minutes
    reader.read()
reader.close()
"""
    _python(program, standin)
    assert standin.calls("1.temperature") == 2
    assert standin.calls("0.temperature") == 100
    assert standin.calls("system.shutdown") == 1


def test_a_failing_field_is_counted_and_is_not_unsupported(standin: Standin) -> None:
    standin.script(a_system(), a_device(0, A, power="error 999"), a_device(1, B))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    assert ("gpu_power_draw_watts", (("uuid", A),)) not in series
    assert series["gpu_field_supported", (("field", "power"), ("uuid", A))] == 1
    assert series["gpu_field_failures_total", (("field", "power"), ("reason", "unknown"), ("uuid", A))] >= 1
    assert series["gpu_temperature_celsius", (("uuid", A),)] == 61


def test_a_hung_call_ends_the_data_and_never_holds_a_scrape(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        exporter.until(lambda s: ("gpu_power_draw_watts", (("uuid", A),)) in s)
        standin.script(a_system(), a_device(0, A, power="hang 4 312500"), a_device(1, B))
        gone = exporter.until(lambda s: not _of(s, "gpu_"))
        assert gone["exporter_collector_hung", (("collector", "gpu"),)] == 1
        assert gone["exporter_sample_timeouts_total", (("collector", "gpu"),)] == 1
        started = time.monotonic()
        ages = [exporter.series()["exporter_sample_age_seconds", (("collector", "gpu"),)] for _ in range(5)]
        assert time.monotonic() - started < 1.0
        assert ages == sorted(ages)
        standin.script(a_system(), a_device(0, A), a_device(1, B))
        back = exporter.until(lambda s: ("gpu_power_draw_watts", (("uuid", A),)) in s)
        assert back["exporter_collector_hung", (("collector", "gpu"),)] == 0
        assert back["exporter_sample_timeouts_total", (("collector", "gpu"),)] == 1


def test_sigterm_ends_an_exporter_whose_driver_hangs(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        standin.script(a_system(), a_device(0, A, power="hang 30 1"), a_device(1, B))
        exporter.until(lambda s: s["exporter_collector_hung", (("collector", "gpu"),)] == 1)
        exporter.process.send_signal(signal.SIGTERM)
        assert exporter.process.wait(timeout=5) == 0


def test_sigterm_shuts_the_library_down(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        started = time.monotonic()
        exporter.process.send_signal(signal.SIGTERM)
        assert exporter.process.wait(timeout=5) == 0
        assert time.monotonic() - started < 1.5
    assert standin.calls("system.shutdown") == 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [(18, "lib_rm_version_mismatch"), (9, "driver_not_loaded"), (4, "no_permission"), (77, "code_77")],
)
def test_a_library_that_does_not_open_states_its_reason(standin: Standin, code: int, reason: str) -> None:
    standin.script(a_system(init=f"error {code}"))
    assert _readings("print(json.dumps(look()))", standin) == [{"down": reason}]


def test_a_driver_that_goes_and_comes_back_is_opened_again_with_back_off(standin: Standin) -> None:
    said = _readings(
        """
print(json.dumps(look()))
script.write_text(healthy.replace("system.devices value 2", "system.devices error 1")
                         .replace("system.init value 1", "system.init error 18"))
now = 1.0
print(json.dumps(look()))
for now in (2.0, 5.9, 6.0, 15.9):
    look()
print(json.dumps(look()))
script.write_text(healthy)
now = 16.0
print(json.dumps(look()))
""",
        standin,
    )
    up = {"devices": [A, B], "lost": []}
    assert said == [up, {"down": "uninitialized"}, {"down": "lib_rm_version_mismatch"}, up]
    assert standin.calls("system.init") == 3  # at 0, 6 and 16: not at 2, 5.9 and 15.9


def test_a_lost_device_is_down_while_the_other_goes_on(standin: Standin) -> None:
    standin.script(a_system(), a_device(0, A), a_device(1, B))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        standin.script(a_system(), a_device(0, A), a_device(1, B, power="error 15"))
        series = exporter.until(lambda s: s.get(("gpu_device_up", (("uuid", B),))) == 0)
        assert series["gpu_power_draw_watts", (("uuid", A),)] == 312.5
        assert not [key for key in series if ("uuid", B) in key[1] and key[0] not in names_of_faults]


names_of_faults = {names.DEVICE_UP.name, names.FIELD_FAILURES.name}


def test_a_device_that_changes_its_index_keeps_its_series(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        standin.script(a_system(1), a_device(0, B))
        series = exporter.until(lambda s: s.get(("gpu_devices", ())) == 1)
    assert series["gpu_power_draw_watts", (("uuid", B),)] == 312.5
    assert series["gpu_device_up", (("uuid", A),)] == 0
    assert [dict(labels)["index"] for name, labels in series if name == "gpu_device_info"] == ["0"]


@pytest.mark.parametrize(
    ("lines", "api", "used", "reserved"),
    [
        ({}, "v2", 1073741824.0, 536870912.0),
        ({"memory_v2": "error 13"}, "v1", 1610612736.0, None),
        ({"memory_v2": "error 3", "memory_v1": "error 3"}, "none", None, None),
        ({"memory_v2": "value 0", "memory_v1": "value 0"}, "none", None, None),
        ({"memory_v2": "error 999"}, "v2", None, None),  # failed, not unsupported: no other interface's number instead
    ],
)
def test_memory_interfaces_are_never_mixed(
    standin: Standin, lines: dict[str, str], api: str, used: float | None, reserved: float | None
) -> None:
    standin.script(a_system(1), a_device(0, A, **lines))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    assert [dict(labels)["memory_api"] for name, labels in series if name == "gpu_device_info"] == [api]
    assert series.get(("gpu_memory_used_bytes", (("uuid", A),))) == used
    assert series.get(("gpu_memory_reserved_bytes", (("uuid", A),))) == reserved


def _of(series: Series, prefix: str) -> set[str]:
    return {name for name, _ in series if name.startswith(prefix)}


def _readings(program: str, standin: Standin) -> list[object]:
    """Run readings in a process that loads the stand-in; every printed line is JSON."""
    prelude = f"""
import json, pathlib
from exporters.gpu.reader import GpuReader
from exporters.gpu.reading import Down
now = 0.0
reader = GpuReader(lambda: now)
script = pathlib.Path({str(standin.folder / "script")!r})
healthy = script.read_text()
def look():
    reading = reader.read()
    if isinstance(reading, Down):
        return {{"down": reading.reason}}
    return {{"devices": [d.identity.uuid for d in reading.devices], "lost": list(reading.lost)}}
"""
    return [json.loads(line) for line in _python(prelude + program, standin).splitlines()]


def _python(program: str, standin: Standin) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], env=standin.environment, check=True, capture_output=True, text=True, timeout=60
    ).stdout
