"""The driver's library that hangs, refuses, loses devices and comes back: what a scrape sees meanwhile."""

from __future__ import annotations

import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from exporters.names import gpu
from tests.exporters.nvml import FAST, A, B, Standin, a_device, a_system
from tests.exporters.running import an_exporter, names

ABOUT_FAULTS = {gpu.DEVICE_UP.name, gpu.DEVICE_HUNG.name, gpu.DEVICE_TIMEOUTS.name, gpu.FIELD_FAILURES.name}


POWER_A, POWER_B = (("gpu_power_draw_watts", (("uuid", uuid),)) for uuid in (A, B))


def test_a_hung_device_ends_its_own_data_and_never_holds_a_scrape(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        exporter.until(lambda s: POWER_A in s)
        standin.script(a_system(), a_device(0, A, power="hang 4 312500"), a_device(1, B))
        gone = exporter.until(lambda s: POWER_A not in s and POWER_B in s)
        assert gone["gpu_device_hung", (("uuid", A),)] == 1
        assert gone["gpu_device_up", (("uuid", A),)] == 0
        assert (gone["gpu_device_hung", (("uuid", B),)], gone[POWER_B]) == (0, 312.5)
        started = time.monotonic()
        with ThreadPoolExecutor(2) as pool:
            scrapes = list(pool.map(lambda _: exporter.series(), range(10)))
        assert time.monotonic() - started < 2.0
        assert {series["gpu_device_timeouts_total", (("uuid", A),)] for series in scrapes} == {1}
        assert all(series["exporter_collector_hung", (("collector", "gpu"),)] == 0 for series in scrapes)
        standin.script(a_system(), a_device(0, A), a_device(1, B))
        back = exporter.until(lambda s: POWER_A in s)
        assert back["gpu_device_hung", (("uuid", A),)] == 0


def test_a_library_that_hangs_ends_all_data_and_never_holds_a_scrape(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        exporter.until(lambda s: POWER_A in s)
        standin.script(a_system(), {"system.devices": "hang 4 2"}, a_device(0, A), a_device(1, B))
        gone = exporter.until(lambda s: not names(s, "gpu_"))
        assert gone["exporter_collector_hung", (("collector", "gpu"),)] == 1
        started = time.monotonic()
        scrapes = [exporter.series() for _ in range(5)]
        assert time.monotonic() - started < 2.0
        ages = [series["exporter_sample_age_seconds", (("collector", "gpu"),)] for series in scrapes]
        assert ages == sorted(ages)
        timeouts = [series["exporter_sample_timeouts_total", (("collector", "gpu"),)] for series in scrapes]
        assert timeouts == [timeouts[0]] * 5
        assert timeouts[0] >= 1
        standin.script(a_system(), a_device(0, A), a_device(1, B))
        back = exporter.until(lambda s: POWER_A in s)
        assert back["exporter_collector_hung", (("collector", "gpu"),)] == 0
        assert back["exporter_sample_timeouts_total", (("collector", "gpu"),)] >= timeouts[0]


def test_sigterm_ends_an_exporter_whose_driver_hangs(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        standin.script(a_system(), a_device(0, A, power="hang 30 1"), a_device(1, B))
        exporter.until(lambda s: s.get(("gpu_device_hung", (("uuid", A),))) == 1)
        exporter.process.send_signal(signal.SIGTERM)
        assert exporter.process.wait(timeout=5) == 0


def test_sigterm_shuts_the_library_down(standin: Standin) -> None:
    with an_exporter(*FAST, environment=standin.environment) as exporter:
        started = time.monotonic()
        exporter.process.send_signal(signal.SIGTERM)
        assert exporter.process.wait(timeout=5) == 0
        assert time.monotonic() - started < 3
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
        assert not [key for key in series if ("uuid", B) in key[1] and key[0] not in ABOUT_FAULTS]


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
    return [json.loads(line) for line in standin.run(prelude + program).splitlines()]
