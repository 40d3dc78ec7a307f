"""Instances, errors, processes, unified memory and time-tables, over the real pynvml and the stand-in library."""

from __future__ import annotations

import pytest

from exporters.gpu.processes import MOST_NAMES, measured
from exporters.names import gpu as names
from tests.exporters.nvml import FAST, A, B, Standin, a_device, a_system
from tests.exporters.running import Exporter, an_exporter

MIG = "MIG-11111111"


def test_errors_are_counted_by_code_and_stay_after_recovery(standin: Standin) -> None:
    events = {"@0.2 0.xid": "value 31", "@0.3 0.xid": "value 31", "@0.4 1.xid": "value 62", "@0.45 0.xid": "value 62"}
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        before = exporter.until(lambda s: ("gpu_field_supported", (("field", "xid_events"), ("uuid", B))) in s)
        assert not [key for key in before if key[0] == "gpu_xid_events_total"]
        standin.script(a_system(), a_device(0, A), a_device(1, B), events)
        series = exporter.until(lambda s: sum(v for (n, _), v in s.items() if n == "gpu_xid_events_total") == 4)
        assert series["gpu_xid_events_total", (("code", "31"), ("uuid", A))] == 2
        assert series["gpu_xid_events_total", (("code", "62"), ("uuid", A))] == 1
        assert series["gpu_xid_events_total", (("code", "62"), ("uuid", B))] == 1
        assert series["gpu_xid_last_event_timestamp_seconds", (("code", "31"), ("uuid", A))] > 1.7e9
        standin.script(a_system(), a_device(0, A), a_device(1, B))
        later = exporter.until(lambda s: s["exporter_samples_total", (("collector", "gpu"),)] > 5)
        assert later["gpu_xid_events_total", (("code", "31"), ("uuid", A))] == 2


def test_a_device_that_reports_no_errors_says_so(standin: Standin) -> None:
    standin.script(a_system(), a_device(0, A), a_device(1, B, events="error 3"))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.until(lambda s: ("gpu_field_supported", (("field", "xid_events"), ("uuid", B))) in s)
    assert series["gpu_field_supported", (("field", "xid_events"), ("uuid", B))] == 0
    assert series["gpu_field_supported", (("field", "xid_events"), ("uuid", A))] == 1


def test_instances_are_devices_of_their_own(standin: Standin) -> None:
    instance = {
        "0m1.uuid": f"value {MIG}",
        "0m1.name": "value NVIDIA Stand-in MIG 1g.10gb",
        "0m1.memory_v2": "value 10200547328",
        "0m1.memory_used": "value 1000000",
        "0m1.gpu_instance": "value 7",
        "0m1.compute_instance": "value 0",
    }
    standin.script(a_system(1), a_device(0, A, mig="value 1", mig_devices="value 7"), instance)
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    own = {"compute_instance": "0", "gpu_instance": "7", "parent": A, "uuid": MIG}
    assert series["gpu_instance_info", tuple(sorted(own.items()))] == 1
    assert series["gpu_memory_total_bytes", (("uuid", MIG),)] == 10200547328
    assert series["gpu_device_up", (("uuid", MIG),)] == 1
    assert ("gpu_power_draw_watts", (("uuid", MIG),)) not in series
    assert series["gpu_field_supported", (("field", "utilization"), ("uuid", MIG))] == 0
    assert series["gpu_power_draw_watts", (("uuid", A),)] == 312.5
    assert {dict(labels)["index"] for name, labels in series if name == "gpu_device_info"} == {"0", "0:1"}
    assert series["gpu_devices", ()] == 1


@pytest.mark.parametrize("memory", ["error 3", "value 0"])
def test_unified_memory_is_said_and_has_no_figures(standin: Standin, memory: str) -> None:
    standin.script(a_system(1), a_device(0, A, memory_v2=memory, memory_v1=memory))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    assert series["gpu_memory_unified", (("uuid", A),)] == 1
    assert not [key for key in series if key[0] in {"gpu_memory_total_bytes", "gpu_memory_used_bytes"}]
    assert series["gpu_power_draw_watts", (("uuid", A),)] == 312.5


def test_a_memory_call_that_fails_is_not_unified_memory(standin: Standin) -> None:
    standin.script(a_system(1), a_device(0, A, memory_v2="error 999"))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        assert exporter.series()["gpu_memory_unified", (("uuid", A),)] == 0


def test_processes_are_named_by_the_library_and_summed_by_name(standin: Standin) -> None:
    system = a_system(1) | {
        "system.process_77": "value /usr/bin/model_server --port=8500",
        "system.process_78": "error 6",
    }
    standin.script(system, a_device(0, A, processes="value 77:1000 78:500", graphics_processes="value 77:1000"))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    assert series["gpu_process_memory_bytes", (("process", "model_server"), ("uuid", A))] == 1000
    others = [key for key in series if key[0] == "gpu_processes" and ("process", "model_server") not in key[1]]
    assert len(others) == 1


def test_an_old_driver_tells_its_processes_by_the_older_function(standin: Standin) -> None:
    system = a_system(1) | {"system.process_77": "value /usr/bin/model_server"}
    old = {"processes": "error 13", "graphics_processes": "error 13"}
    standin.script(system, a_device(0, A, **old, processes_v2="value 77:1000"))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
    assert series["gpu_process_memory_bytes", (("process", "model_server"), ("uuid", A))] == 1000
    assert series["gpu_device_up", (("uuid", A),)] == 1


def test_an_answer_that_is_no_text_costs_its_own_field_only(standin: Standin) -> None:
    neither = "value \xff\xfe"
    odd = {"processes": "value 77:1000", "name": neither, "bus_id": neither}
    standin.script(a_system(driver=neither) | {"system.process_77": neither}, a_device(0, A, **odd), a_device(1, B))
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        series = exporter.series()
        assert series["gpu_power_draw_watts", (("uuid", A),)] == 312.5
        assert series["exporter_source_success", (("collector", "gpu"), ("source", "nvml"))] == 1
        standin.script(a_system(), a_device(0, "\xff\xfe"), a_device(1, B))
        series = exporter.until(lambda s: ("gpu_power_draw_watts", (("uuid", A),)) not in s)
    assert series["gpu_power_draw_watts", (("uuid", B),)] == 312.5
    assert series["gpu_field_failures_total", (("field", "identity"), ("reason", "malformed"), ("uuid", ""))] >= 1


def test_names_of_processes_are_bounded_and_memory_that_is_not_told_is_absent() -> None:
    found: list[tuple[str, int | None]] = [(f"p{n:02}", 100 - n) for n in range(40)]
    found.append(("p00", None))
    shown = list(measured(found))
    counts = {labels[0]: value for metric, labels, value in shown if metric is names.PROCESSES}
    memory = {labels[0]: value for metric, labels, value in shown if metric is names.PROCESS_MEMORY}
    assert len(counts) == MOST_NAMES + 1
    assert counts["others"] == 40 - MOST_NAMES
    assert (counts["p00"], "p00" in memory) == (2, False)
    assert sum(memory.values()) == sum(100 - n for n in range(1, 40))


def test_a_time_table_moves_the_machine(standin: Standin) -> None:
    later = {"@0.5 system.devices": "value 1", "@0.5 0.uuid": f"value {B}", "@4 system.devices": "error 1"}
    mismatch = {"@4 system.init": "error 18"}
    standin.script(a_system(), a_device(0, A), a_device(1, B), later, mismatch)
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        alone = exporter.until(lambda s: s.get(("gpu_devices", ())) == 1)
        assert _indexes(alone) == {B: "0"}
        down = exporter.until(lambda s: s.get(("gpu_exporter_up", ())) == 0)
        assert not [key for key in down if "uuid" in dict(key[1])]
        assert _reason(exporter) in {"uninitialized", "lib_rm_version_mismatch"}


def _reason(exporter: Exporter) -> str:
    (reason,) = [dict(labels)["reason"] for name, labels in exporter.series() if name == "gpu_exporter_down_info"]
    return reason


def _indexes(series: dict[tuple[str, tuple[tuple[str, str], ...]], float]) -> dict[str, str]:
    infos = [dict(labels) for name, labels in series if name == "gpu_device_info"]
    return {info["uuid"]: info["index"] for info in infos}
