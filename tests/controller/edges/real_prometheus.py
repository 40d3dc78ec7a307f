"""A real Prometheus on a free loopback port, with run-time discovery by file, for as long as a test needs it."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.edges.prometheus_http import PrometheusHttp
from tests.prometheus.binaries import path

CONFIG = """
global: {{scrape_interval: 500ms, scrape_timeout: 400ms}}
scrape_configs:
  - job_name: loadgen
    file_sd_configs: [{{files: ["{targets}/loadgen.json"], refresh_interval: 1s}}]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(folder: Path, program: str = "prometheus") -> Iterator[PrometheusHttp]:
    """Data in `folder/data`, targets in `folder/targets`; `program` is a path, or a name that must be on PATH."""
    program = path(program)
    (folder / "targets").mkdir(parents=True, exist_ok=True)
    (folder / "prometheus.yml").write_text(CONFIG.format(targets=folder / "targets"))
    url = f"http://127.0.0.1:{free_port()}"
    command = [program, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    command += [f"--web.listen-address={url.removeprefix('http://')}", "--log.level=warn"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            store = PrometheusHttp(url)
            end = time.monotonic() + 20
            while not store.ready():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < end, "Prometheus did not become ready"
                time.sleep(0.1)
            yield store
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
