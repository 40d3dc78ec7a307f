"""The real stand-in as a process of its own on free loopback ports, and small clients for it."""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "compose.targets.tfserving_standin")
ROW = [round(0.1 * index, 1) for index in range(1, 17)]
PREDICT = "/v1/models/m:predict"
BODY = json.dumps({"instances": [ROW]})
PAGE = "/monitoring/prometheus/metrics"
MONITORING = 'prometheus_config { enable: true, path: "" }\n'


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    body: str

    def json(self) -> Any:
        """The parsed body."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class StandIn:
    """A running stand-in. `grpc` is its gRPC address, empty if it has none."""

    process: subprocess.Popen[str]
    host: str
    port: int
    grpc: str

    def ask(self, method: str, path: str, body: str | bytes | None = None, **headers: str) -> Answer:
        """One request on a connection of its own."""
        connection = HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): text for name, text in headers.items()})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        """GET."""
        return self.ask("GET", path)

    def post(self, path: str, content: Any) -> Answer:
        """POST of JSON."""
        return self.ask("POST", path, content if isinstance(content, str) else json.dumps(content))

    def predict(self, rows: int = 1) -> Answer:
        """A valid prediction."""
        return self.post(PREDICT, {"instances": [ROW] * rows})

    def predict_at_once(self, number: int) -> list[Answer]:
        """As many valid predictions at the same time."""
        with ThreadPoolExecutor(number) as pool:
            return list(pool.map(lambda _: self.predict(), range(number)))

    def counts(self) -> dict[str, Any]:
        """Its own counts."""
        found: dict[str, Any] = self.get("/standin/counts").json()
        return found

    def settled(self) -> dict[str, Any]:
        """Its counts once no request is on its way any more."""
        ends = time.monotonic() + 10
        while (counts := self.counts())["in_flight"]:
            assert time.monotonic() < ends, counts
            time.sleep(0.02)
        return counts

    def script(self, script: dict[str, Any]) -> None:
        """Start a script."""
        answer = self.post("/standin/script", script)
        assert answer.status == 200, answer.body

    def samples(self) -> dict[str, float]:
        """The metric page by sample with its labels."""
        lines = self.get(PAGE).body.splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    def raw(self, data: bytes, *, seconds: float = 5.0, until: bytes = b"") -> bytes:
        """What comes back for raw bytes: to the end of the connection, or until it contains something."""
        with socket.create_connection((self.host, self.port), timeout=seconds) as connection:
            connection.sendall(data)
            got = b""
            while not until or until not in got:
                piece = connection.recv(65536)
                if not piece:
                    return got
                got += piece
            return got

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Exit code and the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(timeout=10)
        return code, time.monotonic() - began


@contextmanager
def a_stand_in(*arguments: str) -> Iterator[StandIn]:
    """Start one that serves model `m`, wait until it is ready, end it."""
    command = [*COMMAND, "--model_name", "m", "--rest_api_port", "free", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        readable, _, _ = select.select([process.stdout], [], [], 20)
        line = process.stdout.readline() if readable else ""
        found = re.match(r"ready rest=([\d.]+):(\d+) grpc=(\S+) .*stand-in", line)
        if not found:
            process.kill()
            raise AssertionError(f"the stand-in did not start: {line}{process.stderr.read()}")
        yield StandIn(process, found[1], int(found[2]), "" if found[3] == "off" else found[3])
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        errors = process.stderr.read()
        process.stdout.close()
        process.stderr.close()
    assert "Traceback" not in errors, errors


def monitored(folder: Path) -> tuple[str, str]:
    """The options that switch the metric page on."""
    path = folder / "monitoring.config"
    path.write_text(MONITORING)
    return "--monitoring_config_file", str(path)


def batched(folder: Path, parameters: str) -> tuple[str, ...]:
    """The options that switch batching on with parameters in the real server's format."""
    path = folder / "batching.config"
    path.write_text(parameters)
    return "--enable_batching", "--batching_parameters_file", str(path)


def requests_in(log: Path) -> list[dict[str, Any]]:
    """The requests of a log, in the order of their answers."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in lines if line["event"] == "request"]
