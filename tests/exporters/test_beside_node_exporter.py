"""The real node_exporter and ours, scraped by one real Prometheus: the recording layer gives the same for both."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.controller.edges.real_prometheus import free_port, running
from tests.exporters.running import an_exporter
from tests.needs import missing
from tests.prometheus import files
from tests.tools import TOOLS

AGREE = 0.02
SECONDS, MORE = 24, 16
"""The load runs first for so long, then at most so much longer: a burst may lie between the two scrapes."""

WORK = """
import os, sys, threading, time
ends = time.monotonic() + float(sys.argv[1])
def spin():
    while time.monotonic() < ends:
        sum(range(1000))
threading.Thread(target=spin).start()
with open(sys.argv[2], "wb") as file:
    while time.monotonic() < ends:
        file.seek(0)
        file.write(os.urandom(200_000))
        os.fsync(file.fileno())
        time.sleep(0.05)
"""


@pytest.mark.slow
def test_both_exporters_agree_under_load(tmp_path: Path) -> None:
    with _node_exporter() as theirs, an_exporter("host", "--interval", "250ms") as ours, running(tmp_path) as store:
        (tmp_path / "targets/loadgen.json").write_text(
            json.dumps(
                [
                    {"targets": [ours.url.removeprefix("http://")], "labels": {"job": "ours", "instance": "box"}},
                    {"targets": [theirs], "labels": {"job": "node", "instance": "box"}},
                ]
            )
        )
        load = subprocess.Popen([sys.executable, "-c", WORK, str(SECONDS + MORE), str(tmp_path / "file")])
        try:
            time.sleep(SECONDS)
            ends = time.monotonic() + MORE - 2
            while apart := _apart(store.url):
                assert time.monotonic() < ends, apart
                time.sleep(1)
        finally:
            load.terminate()
            load.wait(10)


RECORDINGS = (
    "instance:host_cpu_busy:ratio_rate30s",
    "instance:host_cpu_cores:count",
    "instance:host_memory_total:bytes",
    "instance:host_memory_available:bytes",
    "instance_device:host_disk_written:bytes_rate30s",
)
"""What the load moves, and what it is a share of."""

COUNTERS = (
    "{}_network_receive_bytes_total",
    "{}_network_transmit_bytes_total",
)
"""Counters since the machine's start: the load stays on the loopback, of which node_exporter does not tell."""


def _apart(url: str) -> dict[str, tuple[float, float]]:
    """What the two do not agree upon."""
    pairs = {name: _pair(url, name) for name in (*RECORDINGS, *COUNTERS)}
    return {name: pair for name, pair in pairs.items() if not _agree(*pair)}


def _pair(url: str, name: str) -> tuple[float, float]:
    """Our figure and theirs; rates over the last twenty seconds."""
    if name in COUNTERS:
        ours, theirs = (f'{name.format(prefix)}{{device!="lo"}}' for prefix in ("host", "node"))
        return _value(url, ours, "ours"), _value(url, theirs, "node")
    (expression,) = [rule["expr"] for rule in files.rules(files.RULES) if rule.get("record") == name]
    wanted = expression.replace("[30s]", "[20s]")
    return _value(url, wanted, "ours"), _value(url, wanted, "node")


def _value(url: str, expression: str, job: str) -> float:
    query = f"sum by (job) ({expression})"
    with urlopen(f"{url}/api/v1/query?{urlencode({'query': query})}", timeout=10) as answer:  # noqa: S310 - loopback
        result = json.load(answer)["data"]["result"]
    (value,) = [float(series["value"][1]) for series in result if series["metric"]["job"] == job]
    return value


def _agree(ours: float, theirs: float) -> bool:
    return theirs > 0 and abs(ours - theirs) <= AGREE * theirs


@contextmanager
def _node_exporter() -> Iterator[str]:
    name = "prometheus-node-exporter"
    program = shutil.which(name) or shutil.which(str(TOOLS / "usr/bin" / name))
    if program is None:
        missing(f"{name} is neither on PATH nor in {TOOLS}: `make tools` fetches it")
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [program, f"--web.listen-address={address}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(address)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _wait(address: str) -> None:
    host, _, port = address.rpartition(":")
    ends = time.monotonic() + 10
    while True:
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            assert time.monotonic() < ends, "node_exporter did not start"
            time.sleep(0.1)
        else:
            return
