"""prometheus.yml as data, and with a real Prometheus: targets come and go by files, and none is left dead."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.exporters.running import an_exporter
from tests.prometheus import binaries, files

JOBS = ["loadgen", "stagelight", "exporter", "tfserving", "prometheus"]
ALSO = {"stagelight": ["stagelight-run"]}
"""A run that is started by hand beside the daemon is a target of its own."""

TFSERVING_PAGE = """\
# TYPE :tensorflow:serving:request_count counter
:tensorflow:serving:request_count{model_name="m",status="OK"} 5
# TYPE :tensorflow:serving:request_latency histogram
:tensorflow:serving:request_latency_bucket{model_name="m",API="predict",entrypoint="REST",le="10"} 0
:tensorflow:serving:request_latency_bucket{model_name="m",API="predict",entrypoint="REST",le="1.27482e+06"} 5
:tensorflow:serving:request_latency_bucket{model_name="m",API="predict",entrypoint="REST",le="+Inf"} 5
:tensorflow:serving:request_latency_sum{model_name="m",API="predict",entrypoint="REST"} 50000
:tensorflow:serving:request_latency_count{model_name="m",API="predict",entrypoint="REST"} 5
# TYPE :tensorflow:core:graph_runs counter
:tensorflow:core:graph_runs{} 8
"""


def test_a_scrape_ends_before_the_next_begins() -> None:
    general = files.load(files.CONFIG)["global"]
    assert (general["scrape_interval"], general["evaluation_interval"]) == ("5s", "5s")
    assert int(general["scrape_timeout"].removesuffix("s")) < 5
    for job in files.load(files.CONFIG)["scrape_configs"]:
        if job["job_name"] == "loadgen":  # alerts about it come within five seconds
            assert (job["scrape_interval"], job["scrape_timeout"]) == ("2s", "2s")
        else:
            assert not {"scrape_interval", "scrape_timeout"} & set(job), "one interval for all: rates are compared"


def test_every_target_is_discovered_by_the_file_of_its_job() -> None:
    jobs = files.load(files.CONFIG)["scrape_configs"]
    assert [job["job_name"] for job in jobs] == JOBS
    for job in jobs:
        names = [job["job_name"], *ALSO.get(job["job_name"], [])]
        files_read = [f"targets/{name}.json" for name in names]
        assert job["file_sd_configs"] == [{"files": files_read, "refresh_interval": "5s"}]
        assert "static_configs" not in job


def test_every_rule_file_is_loaded() -> None:
    patterns = files.load(files.CONFIG)["rule_files"]
    loaded = {file for pattern in patterns for file in files.ROOT.glob(pattern)}
    assert loaded == set(files.RULES + files.ALERTS)


@pytest.mark.slow
@pytest.mark.parametrize("prometheus", binaries.every("prometheus"))
def test_a_real_prometheus_scrapes_what_it_discovers_and_forgets_what_goes(prometheus: str, tmp_path: Path) -> None:
    with _prometheus(prometheus, tmp_path) as url, an_exporter("host", "gpu") as exporter, _tfserving() as tfserving:
        assert _query(url, "up") == {}
        _discover(tmp_path, "exporter", exporter.url.removeprefix("http://"))
        _discover(tmp_path, "tfserving", tfserving)
        _until(lambda: _query(url, "up") == {"exporter": 1.0, "tfserving": 1.0})
        assert _query(url, ":tensorflow:serving:request_count") == {"tfserving": 5.0}
        assert _query(url, ":tensorflow:core:graph_runs") == {"tfserving": 8.0}
        assert _query(url, "host_cpu_cores")["exporter"] >= 1
        _until(lambda: "exporter" in _query(url, "instance:host_memory_used:ratio"))
        (tmp_path / "prometheus/targets/tfserving.json").unlink()
        _until(lambda: _query(url, "up") == {"exporter": 1.0})
        _discover(tmp_path, "exporter")
        _until(lambda: _query(url, "up") == {})
        assert _query(url, "ALERTS") == {}


def _discover(folder: Path, job: str, *addresses: str) -> None:
    file = folder / "prometheus/targets" / f"{job}.json"
    new = file.with_suffix(".new")
    new.write_text(json.dumps([{"targets": [address], "labels": {}} for address in addresses]), encoding="utf-8")
    new.replace(file)


def _query(url: str, expression: str) -> dict[str, float]:
    """An instant query's values by job."""
    with urlopen(f"{url}/api/v1/query?{urlencode({'query': expression})}", timeout=5) as answer:  # noqa: S310
        found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return {sample["metric"].get("job", ""): float(sample["value"][1]) for sample in found}


def _until(holds: Callable[[], bool], seconds: float = 40.0) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, f"not seen within {seconds} s"
        time.sleep(0.25)


@contextmanager
def _prometheus(program: str, folder: Path) -> Iterator[str]:
    """A real Prometheus on the shipped configuration, copied so that its targets are the test's own."""
    shutil.copytree(files.ROOT, folder / "prometheus", ignore=shutil.ignore_patterns("targets"))
    (folder / "prometheus/targets").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [
        binaries.path(program),
        f"--config.file={folder / 'prometheus/prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _until(lambda: _ready(f"http://{address}/-/ready", process))
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait(timeout=20)


def _ready(url: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "prometheus ended at once"
    try:
        with urlopen(url, timeout=2) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except OSError:
        return False


class _Page(BaseHTTPRequestHandler):
    """Answers as TensorFlow Serving does: the bare content type, whatever is asked for."""

    def do_GET(self) -> None:
        body = TFSERVING_PAGE.encode()
        self.send_response(200 if self.path == "/monitoring/prometheus/metrics" else 404)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Quiet."""


@contextmanager
def _tfserving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
