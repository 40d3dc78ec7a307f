"""A scrape during every failure: answered at once, clean for promtool, and with the words for what is wrong."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.exporters.nvml import FAST, A, B, Lines, Standin, a_device, a_system
from tests.exporters.running import Exporter, Series, an_exporter
from tests.needs import need

POWER_A, POWER_B = (("gpu_power_draw_watts", (("uuid", uuid),)) for uuid in (A, B))
MIG = "MIG-22222222"
UP = ("gpu_exporter_up", ())


def _down(reason: str) -> Callable[[Series], bool]:
    return lambda s: s.get(UP) == 0 and s.get(("gpu_exporter_down_info", (("reason", reason),))) == 1


def _failed(field: str, reason: str) -> Callable[[Series], bool]:
    key = ("gpu_field_failures_total", (("field", field), ("reason", reason), ("uuid", A)))
    return lambda s: s.get(key, 0) > 0 and POWER_B in s


def _without(index: int, uuid: str) -> Lines:
    """A device that has nothing but who it is and its power."""
    return {f"{index}.uuid": f"value {uuid}", f"{index}.power": "value 1000"}


BOTH = (a_device(0, A), a_device(1, B))
FAILURES: dict[str, tuple[tuple[Lines, ...], Callable[[Series], bool]]] = {
    "one device hangs": (
        (a_system(), a_device(0, A, power="hang 1 1"), a_device(1, B)),
        lambda s: s.get(("gpu_device_hung", (("uuid", A),))) == 1 and POWER_B in s and POWER_A not in s,
    ),
    "one device is lost": (
        (a_system(), a_device(0, A, power="error 15"), a_device(1, B)),
        lambda s: s.get(("gpu_device_up", (("uuid", A),))) == 0 and POWER_B in s,
    ),
    "a device has nothing": (
        (a_system(), _without(0, A), a_device(1, B)),
        lambda s: s.get(("gpu_field_supported", (("field", "utilization"), ("uuid", A)))) == 0 and s[POWER_A] == 1,
    ),
    "a field fails in an unknown way": (
        (a_system(), a_device(0, A, temperature="error 4711"), a_device(1, B)),
        _failed("temperature", "code_4711"),
    ),
    "a field is not permitted": (
        (a_system(), a_device(0, A, energy="error 4"), a_device(1, B)),
        _failed("energy", "no_permission"),
    ),
    "numbers are beyond all bounds": (
        (a_system(), a_device(0, A, utilization="value 4294967295", energy=f"value {2**64 - 1}"), a_device(1, B)),
        lambda s: s.get(("gpu_energy_joules_total", (("uuid", A),)), 0) > 1e15,
    ),
    "names need escapes": (
        (a_system(), a_device(0, A, name='value a "quoted" \\back\\slash'), a_device(1, B)),
        lambda s: any(dict(labels).get("model", "").startswith('a "quoted"') for name, labels in s),
    ),
    "both devices say they are the same": (
        (a_system(), a_device(0, A), a_device(1, A)),
        lambda s: (
            s.get(("gpu_field_failures_total", (("field", "identity"), ("reason", "duplicate"), ("uuid", A))), 0) > 0
        ),
    ),
    "instances come, and one has gone": (
        (
            a_system(1),
            a_device(0, A, mig="value 1", mig_devices="value 7"),
            {"0m3.uuid": f"value {MIG}", "0m3.utilization": "error 3"},
        ),
        lambda s: s.get(("gpu_device_up", (("uuid", MIG),))) == 1,
    ),
    "memory is the machine's": (
        (a_system(1), a_device(0, A, memory_v2="error 3", memory_v1="value 0", bar1_total="error 3")),
        lambda s: s.get(("gpu_memory_unified", (("uuid", A),))) == 1,
    ),
    "there are no devices": ((a_system(0),), lambda s: s.get(("gpu_devices", ())) == 0),
    "the driver was updated": (
        (a_system() | {"system.init": "error 18", "system.devices": "error 1"},),
        _down("lib_rm_version_mismatch"),
    ),
}


BEFORE_IT = {"one device hangs", "one device is lost", "the driver was updated"}
"""What happens to a machine that was well; the others are so from the beginning."""


@pytest.mark.parametrize("failure", FAILURES)
def test_a_scrape_during_it_is_clean_and_says_what_is_wrong(library: Standin, failure: str) -> None:
    lines, seen = FAILURES[failure]
    library.script(*((a_system(), *BOTH) if failure in BEFORE_IT else lines))
    with an_exporter(*FAST, environment=library.quiet_environment) as exporter:
        if failure in BEFORE_IT:
            exporter.until(lambda s: POWER_A in s and POWER_B in s)
            library.script(*lines)
        exporter.until(seen)
        _check(exporter)


def _check(exporter: Exporter) -> None:
    began = time.monotonic()
    page, _ = exporter.get()
    assert time.monotonic() - began < 2.0
    check = subprocess.run(
        [need("promtool"), "check", "metrics"], input=page, capture_output=True, text=True, check=False
    )
    assert (check.returncode, check.stdout + check.stderr) == (0, "")
    again, _ = exporter.get(Accept="application/openmetrics-text; version=1.0.0")
    families = list(text_string_to_metric_families(again))  # type: ignore[no-untyped-call]
    shown = [(sample.name, tuple(sorted(sample.labels.items()))) for family in families for sample in family.samples]
    assert len(shown) == len(set(shown))
    assert any(name.startswith("gpu_") for name, _ in shown)
