"""Switches, rules on the command line, the text file, the simulated GPUs, the unit, and use as a library."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exporters import options
from tests.exporters.running import an_exporter, names, parse
from tests.needs import need

UNIT = Path(__file__).parents[2] / "exporters/systemd/stagelight-exporter.service"


@pytest.mark.parametrize(
    ("arguments", "on", "off"),
    [
        (["--no-collector.thermal"], "cpu", "thermal"),
        (["--collector.disable-defaults", "--collector.load"], "load", "cpu"),
        (["--collector.disable-defaults", "--collector.load", "--no-collector.load", "--collector.tcp"], "tcp", "load"),
    ],
)
def test_sources_are_switched_as_in_other_exporters(arguments: list[str], on: str, off: str) -> None:
    sources = options.read(arguments).sources
    assert (on in sources, off in sources) == (True, False)


def test_switches_and_rules_reach_the_page() -> None:
    own = f"me=command:^{sys.executable}.*-m exporters.*--no-such-option"
    page = _run("host", "--once", "--no-collector.tcp", "--collector.cpu.cores", "--process", own)
    series = parse(page)
    assert not names(series, "host_tcp_")
    assert names(series, "host_cpu_core_seconds_total")
    assert series["host_processes_found", (("process", "me"),)] == 0


def test_several_collectors_in_one_process_have_no_series_twice() -> None:
    page = _run("host", "gpu", "loadgen", "--once", "--process", "py=name:python.*")
    series = [line.rpartition(" ")[0] for line in page.splitlines() if not line.startswith("#")]
    assert len(series) == len(set(series))
    assert parse(page)["host_processes_found", (("process", "loadgen"),)] >= 0


def test_the_load_generator_is_watched_without_the_host() -> None:
    series = parse(_run("loadgen", "--once"))
    assert names(series, "host_") >= {"host_processes_found", "host_interference_seconds_total"}
    assert not names(series, "host_load")


def test_the_text_file_is_the_page_and_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "stagelight.prom"
    assert _run("host", "--once", "--textfile", str(file)) == ""
    assert ("host_cpu_cores", ()) in parse(file.read_text())
    first = file.stat()
    with an_exporter("host", "--textfile", str(file), "--textfile-interval", "1s"):
        ends = time.monotonic() + 10
        while file.stat().st_ino == first.st_ino and time.monotonic() < ends:
            time.sleep(0.1)
    assert file.stat().st_ino != first.st_ino
    assert oct(file.stat().st_mode & 0o777) == "0o644"
    assert [path.name for path in tmp_path.iterdir()] == ["stagelight.prom"]


def test_a_text_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "exporters", "host", "--once", "--textfile", str(tmp_path / "none/x.prom")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"could not write {tmp_path}/none/x.prom: No such file or directory"


def test_simulated_gpus_say_that_they_are() -> None:
    need("cc")
    with an_exporter("gpu", "--gpu-demo", "--interval", "100ms") as exporter:
        series = exporter.series()
    assert series["gpu_simulated", ()] == 1
    assert {dict(labels)["model"] for name, labels in series if name == "gpu_device_info"} == {"Simulated GPU 80GB"}
    supported = {dict(labels)["field"]: value for (n, labels), value in series.items() if n == "gpu_field_supported"}
    assert [field for field, has in supported.items() if not has] == ["pcie_replays"]


def test_a_script_for_simulated_gpus_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "exporters", "gpu", "--gpu-script", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert done.stderr.strip() == f"could not read the GPU script {tmp_path}/none: there is no such file"


def test_the_landing_page_shows_what_works() -> None:
    with an_exporter("host", "gpu", environment={**os.environ, "LD_LIBRARY_PATH": "/nowhere"}) as exporter:
        landing, content_type = exporter.get("/")
    assert content_type == "text/html; charset=utf-8"
    assert "<td>host</td><td>cpu</td><td>ok</td>" in landing


def test_it_is_a_library_as_its_package_says() -> None:
    text = Path(options.__file__).with_name("__init__.py").read_text()
    program = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nprint(body.decode())"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert ("host_cpu_cores", ()) in parse(done.stdout)


def test_the_unit_starts_the_program_and_systemd_understands_it(tmp_path: Path) -> None:
    (start,) = [line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart=")]
    assert start == "ExecStart=/opt/stagelight/bin/stagelight-exporter $STAGELIGHT_EXPORTER_OPTIONS"
    (given,) = [line for line in UNIT.read_text().splitlines() if "OPTIONS=" in line]
    assert options.read(given.split('"')[1].split()).collectors == ("host", "gpu")
    here = tmp_path / UNIT.name
    here.write_text(UNIT.read_text().replace("/opt/stagelight/bin/stagelight-exporter", sys.executable))
    command = [need("systemd-analyze"), "verify", "--man=no", str(here)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert not [line for line in done.stderr.splitlines() if UNIT.name in line], done.stderr


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "exporters", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
