"""The GPU collector over the real pynvml and a real shared library that stands in for the driver's."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.exporters.nvml import FAST, A, B, Standin, a_device, a_system
from tests.exporters.running import an_exporter, names


def test_without_a_library_the_exporter_says_so_and_stays_up(tmp_path: Path) -> None:
    # a broken file where the loader looks first: so that the test also holds on a machine with a driver
    (tmp_path / "libnvidia-ml.so.1").touch()
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    with an_exporter(*FAST, environment=environment) as exporter:
        series = exporter.series()
        assert series["gpu_exporter_up", ()] == 0
        assert series["gpu_exporter_down_info", (("reason", "library_not_found"),)] == 1
        assert names(series, "gpu_") == {"gpu_exporter_up", "gpu_exporter_down_info"}
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
        "gpu_pcie_link_lanes": 8,
        "gpu_pcie_link_lanes_max": 16,
        "gpu_pcie_link_generation": 4,
        "gpu_pcie_link_generation_max": 5,
        "gpu_encoder_utilization_ratio": 0.12,
        "gpu_decoder_utilization_ratio": 0.25,
        "gpu_bar1_total_bytes": 134217728,
        "gpu_bar1_used_bytes": 2097152,
        "gpu_memory_temperature_celsius": 72,
        "gpu_memory_unified": 0,
        "gpu_nvlink_links_active": 2,
        "gpu_nvlink_transmit_bytes_total": 1048576,
        "gpu_nvlink_receive_bytes_total": 2097152,
        "gpu_row_remapping_pending": 1,
        "gpu_row_remapping_failed": 0,
        "gpu_performance_state": 0,
        "gpu_device_up": 1,
    }
    assert {name: series[name, (("uuid", A),)] for name in expected} == pytest.approx(expected)
    assert series["gpu_clock_hertz", (("clock", "memory"), ("uuid", A))] == 2619e6
    assert series["gpu_clock_max_hertz", (("clock", "sm"), ("uuid", A))] == 2000e6
    limits = {dict(labels)["limit"]: value for (name, labels), value in series.items() if "temperature_limit" in name}
    assert limits == {"shutdown": 95, "slowdown": 92, "memory": 105, "core": 88}
    assert series["gpu_ecc_errors_total", (("kind", "corrected"), ("uuid", A))] == 7
    assert series["gpu_ecc_errors_total", (("kind", "uncorrected"), ("uuid", A))] == 1
    assert series["gpu_remapped_rows", (("cause", "corrected"), ("uuid", A))] == 2
    assert series["gpu_simulated", ()] == 1
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
    assert series["gpu_field_supported", (("field", "pcie_replays"), ("uuid", A))] == 0


def test_an_unsupported_field_is_asked_again_only_after_ten_minutes(standin: Standin) -> None:
    program = """
import os
from exporters.gpu.reader import GpuReader
now = 0.0
reader = GpuReader(lambda: now)
for poll in range(100):
    now = poll * 12.0  # twenty minutes
    reader.read()
reader.close()
"""
    standin.run(program)
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
