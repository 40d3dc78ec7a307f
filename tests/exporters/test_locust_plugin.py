"""The plugin in real Locust runs whose locustfile knows nothing of it: headless, alone and with worker processes."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from exporters.loadgen_pulse import Vitals
from exporters.locust_account import DURATION_BOUNDS, Account, Tally, packed, unpacked
from exporters.locust_outcome import outcome
from exporters.names import loadgen as names
from exporters.options import read
from tests.needs import need

PLUGIN = Path(__file__).parents[2] / "exporters" / "locust_plugin.py"
LOCUST = str(Path(sys.executable).with_name("locust"))
MINE = """
from locust import FastHttpUser, constant_throughput, task

class Visitor(FastHttpUser):
    wait_time = constant_throughput(20)

    @task(9)
    def look(self):
        self.client.get("/good")

    @task(1)
    def stumble(self):
        self.client.get("/bad")
"""


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/good" else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def target() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def a_locust(folder: Path, target: str, *more: str, listen: str = "127.0.0.1:0") -> Iterator[subprocess.Popen[bytes]]:
    folder.mkdir()
    (folder / "mine.py").write_text(MINE)
    command = [LOCUST, "-f", f"{folder / 'mine.py'},{PLUGIN}", "--headless", "--users", "4", "--spawn-rate", "4"]
    command += ["--host", target, "--run-time", "40s", "--stagelight-listen", listen, *more]
    command += ["--stagelight-limits", "cpu=0.5"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, cwd=folder)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def page(folder: Path) -> str:
    """The newest page; empty as long as there is none."""
    found = re.search(r"metrics are at (http://\S+)", (folder / "log").read_text())
    if found is None:
        return ""
    with urllib.request.urlopen(found[1], timeout=5) as answer:  # noqa: S310 - what Locust printed
        return str(answer.read().decode())


def samples(text: str) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def wait_for(folder: Path, holds: Callable[[dict[str, float]], bool], seconds: float = 30.0) -> dict[str, float]:
    deadline, found = time.monotonic() + seconds, dict[str, float]()
    while time.monotonic() < deadline:
        found = samples(page(folder))
        if found and holds(found):
            return found
        time.sleep(0.3)
    raise AssertionError((folder / "log").read_text()[-2000:] + repr(found))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
def test_a_local_run_and_a_distributed_one_show_every_process_and_a_taken_port_ends_a_run(
    tmp_path: Path, target: str
) -> None:
    local, many = tmp_path / "local", tmp_path / "many"
    port = str(free_port())
    with (
        a_locust(local, target),
        a_locust(many, target, "--processes", "2", "--master-port", port, "--master-bind-port", port) as process,
        socket.socket() as taken,
    ):
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        _ends_where_the_port_is_taken(tmp_path / "refused", target, f"127.0.0.1:{taken.getsockname()[1]}")
        for folder, workers in ((local, {"local"}), (many, {"worker-0", "worker-1", "master"})):
            _shows_every_process(folder, workers)
        _says_that_a_worker_is_gone(many, process.pid)


def _shows_every_process(folder: Path, workers: set[str]) -> None:
    ok, bad = 'loadgen_requests_total{outcome="ok"}', 'loadgen_requests_total{outcome="http_error"}'
    clock = 'loadgen_saturation{signal="clock",worker="%s"}'
    found = wait_for(folder, lambda f: f[ok] > 40 and f[bad] > 0 and all(clock % name in f for name in workers))
    senders = workers - {"master"}
    assert found['loadgen_signal_limit{signal="cpu"}'] == 0.5
    assert found["loadgen_users_target"] == 4
    assert found["loadgen_users_running"] == 4
    assert found["loadgen_workers_connected"] == found["loadgen_workers_expected"] == len(senders)
    assert found['loadgen_request_duration_seconds_count{outcome="ok"}'] == found[ok]
    for name in senders:
        for one in ("cpu", "loop_lag", "descriptors", "memory", "users", "gc", "errors"):
            assert f'loadgen_saturation{{signal="{one}",worker="{name}"}}' in found
        assert found[f'loadgen_event_loop_lag_seconds_count{{worker="{name}"}}'] > 20
    text = page(folder)
    known = {metric.family if metric.kind != "info" else metric.name: metric for metric in names.ALL}
    for family in text_string_to_metric_families(text):
        assert family.documentation == known[family.name].help
    command = [need("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def _says_that_a_worker_is_gone(folder: Path, master: int) -> None:
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    silent = 'loadgen_saturation{signal="workers",worker="master"}'
    wait_for(folder, lambda found: found[silent] >= 1 and found["loadgen_workers_connected"] == 1, 10.0)


def _ends_where_the_port_is_taken(folder: Path, target: str, address: str) -> None:
    with a_locust(folder, target, listen=address) as process:
        assert process.wait(30) == 1
    log = (folder / "log").read_text()
    assert f"could not serve the generator's metrics at {address}: " in log
    assert "choose another address with --stagelight-listen" in log


def test_the_exporter_tells_where_the_plugin_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read(["--locust-plugin"])
    assert ended.value.code in (0, None)
    assert Path(capsys.readouterr().out.strip()) == PLUGIN


class ReadTimeout(OSError):  # noqa: N818 - as `requests` calls it
    pass


class NameResolutionError(Exception):
    pass


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("exception", "status", "expected"),
    [
        (None, 200, "ok"),
        (ValueError("bad"), 200, "invalid_response"),
        (ValueError("bad"), 503, "http_error"),
        (TimeoutError(), None, "timeout"),
        (ReadTimeout(), None, "timeout"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "no"), None, "connection_error"),
        (OSError(errno.EMFILE, "no"), None, "generator_error"),
        (caused(ValueError("x"), OSError(errno.EADDRNOTAVAIL, "no")), None, "generator_error"),
        (NameResolutionError("host", socket.gaierror(-2, "unknown")), None, "generator_error"),
        ("a text", None, "invalid_response"),
    ],
)
def test_outcomes_are_read_from_the_event(exception: object, status: int | None, expected: str) -> None:
    response = type("Response", (), {"status_code": status})() if status is not None else None
    assert outcome(exception, response) == expected
    assert outcome(exception, response) in names.OUTCOMES


def test_reports_add_up_and_silence_is_seen() -> None:
    tally, account = Tally(), Account()
    for seconds in (0.0001, 0.0011, 75.0):
        tally.count("ok", seconds)
    tally.count("generator_error", 0.5)
    parts, ended, faults = tally.take()
    assert (ended, faults, tally.take()) == (4, 1, ({}, 0, 0))
    vitals = Vitals(1.0, 2, (30_000,), {"cpu": 0.5}, {"x": 1.0})
    back, same = unpacked(packed(parts, vitals))
    assert (back, same) == (parts, vitals)
    for at in (10.0, 11.0):
        account.report("id", "worker-0", back, vitals, at)
    buckets = dict(account.durations["ok"].cumulative())
    assert (buckets[str(DURATION_BOUNDS[0])], buckets["60.0"], buckets["+Inf"]) == (2.0, 4.0, 6.0)
    assert account.durations["ok"].sum == pytest.approx(2 * 75.0012)
    assert account.silence(11.5, 0, 2.5) == pytest.approx(0.5)
    assert account.silence(11.5, 1, 2.5) == 2.5
    assert [process.name for process in account.connected(13.0)] == ["worker-0"]
    assert account.connected(14.0) == []
    account.keep([])
    assert account.processes == {}
