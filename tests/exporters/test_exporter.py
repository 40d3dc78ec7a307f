"""The program: its options, its addresses, its exit codes, and its behaviour under many scrapes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError

import pytest

from tests.exporters.running import an_exporter, parse


def test_it_serves_metrics_health_and_a_landing_page() -> None:
    with an_exporter("host") as exporter:
        page, content_type = exporter.get()
        assert content_type.startswith("text/plain; version=0.0.4")
        assert ("host_cpu_cores", ()) in parse(page)
        assert exporter.get("/-/healthy")[0] == "healthy\n"
        assert "href='/metrics'" in exporter.get("/")[0]
        with pytest.raises(HTTPError, match="404"):
            exporter.get("/nothing")


def test_the_first_scrape_after_ready_already_has_data() -> None:
    with an_exporter("host", "--interval", "10s") as exporter:
        series = exporter.series()
    assert series["exporter_samples_total", (("collector", "host"),)] == 1
    assert series["host_cpu_seconds_total", (("mode", "user"),)] > 0


def test_scrapes_share_one_sampling_and_answer_from_memory() -> None:
    with an_exporter("host", "--interval", "500ms") as exporter:
        started = time.monotonic()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: exporter.series(), range(40)))
        took = time.monotonic() - started
        series = exporter.series()
    assert series["exporter_scrapes_total", ()] == 40
    assert series["exporter_samples_total", (("collector", "host"),)] <= 2 + took / 0.5
    assert series["exporter_scrape_duration_seconds", ()] < 0.5


def test_it_says_what_it_costs() -> None:
    with an_exporter("host") as exporter:
        series = exporter.series()
    assert 0 < series["exporter_process_cpu_seconds_total", ()] < 10
    assert 5e6 < series["exporter_process_resident_memory_bytes", ()] < 100e6
    assert series["exporter_process_file_descriptors", ()] < 50
    assert abs(series["exporter_process_start_time_seconds", ()] - time.time()) < 60


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_clean_and_quick(number: signal.Signals) -> None:
    with an_exporter("host") as exporter:
        started = time.monotonic()
        exporter.process.send_signal(number)
        assert exporter.process.wait(timeout=5) == 0
        assert time.monotonic() - started < 3


def test_once_prints_the_page_and_ends() -> None:
    done = _run("host", "--once")
    assert done.returncode == 0
    series = parse(done.stdout)
    assert series["exporter_source_success", (("collector", "host"), ("source", "cpu"))] == 1
    assert not [name for name, _ in series if name.startswith("gpu_")]


def test_a_port_in_use_is_one_clear_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = _run("host", "--listen", address)
    assert done.returncode == 2
    assert done.stderr.strip() == (
        f"could not listen on {address}: Address already in use; "
        "choose another address with --listen, or end the program that has it"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["disk"], "there is no collector 'disk'; there are: host, gpu, loadgen"),
        (["--listen", "9692"], "'9692' is not HOST:PORT, such as 127.0.0.1:9692"),
        (["--listen", "127.0.0.1:70000"], "'127.0.0.1:70000' is not HOST:PORT, such as 127.0.0.1:9692"),
        (["--interval", "1"], "'1' is not a time of at least 10ms, such as 500ms or 1s"),
        (["--interval", "0s"], "'0s' is not a time of at least 10ms, such as 500ms or 1s"),
    ],
)
def test_wrong_usage_says_what_would_be_right(arguments: list[str], said: str) -> None:
    done = _run(*arguments)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(said)


def test_help_has_an_example() -> None:
    assert "stagelight-exporter host gpu --listen 127.0.0.1:9692" in _run("--help").stdout


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "exporters", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)
