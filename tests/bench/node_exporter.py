"""A real node_exporter with the families that our host exporter has, and what a process has used until now."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.controller.edges.real_prometheus import free_port
from tests.tools import TOOLS

FLAGS = (
    "--collector.disable-defaults",
    *(f"--collector.{name}" for name in ("cpu", "stat", "loadavg", "schedstat", "filefd", "meminfo", "vmstat")),
    *(f"--collector.{name}" for name in ("pressure", "diskstats", "netdev", "netstat", "sockstat", "timex")),
    "--collector.thermal_zone",
    "--web.disable-exporter-metrics",
)
OUR_SWITCHES = ("--no-collector.container", "--collector.cpu.cores")
"""The container's own view is not in node_exporter; CPU time by core is not in ours by default."""


@dataclass(frozen=True, slots=True)
class Node:
    """A running node_exporter."""

    pid: int
    url: str
    version: str


@contextmanager
def node_exporter(*flags: str) -> Iterator[Node | None]:
    """Start it on a free port; None where there is none."""
    name = "prometheus-node-exporter"
    program = shutil.which(name) or shutil.which(str(TOOLS / "usr/bin" / name))
    if program is None:
        yield None
        return
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    url = f"http://127.0.0.1:{free_port()}"
    command = [program, f"--web.listen-address={url.removeprefix('http://')}", *flags]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(url)
        yield Node(process.pid, url, (said.stdout + said.stderr).split()[2])
    finally:
        process.terminate()
        process.wait(10)


class Scraper:
    """Scrapes over one connection that it keeps, as Prometheus does."""

    def __init__(self, url: str) -> None:
        """`url` of the exporter, without a path."""
        self._connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port or 0, timeout=10)

    def __call__(self) -> bytes:
        """One page."""
        self._connection.request("GET", "/metrics", headers={"Accept-Encoding": "identity"})
        return self._connection.getresponse().read()


def cpu_seconds(pid: int) -> float:
    """CPU time of the threads that a process has, in nanosecond steps (`schedstat`): ticks would be too coarse."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names only
        total += int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])
    return total / 1e9


def _wait(url: str) -> None:
    ends = time.monotonic() + 10
    while True:
        try:
            Scraper(url)()
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.1)
        else:
            return
