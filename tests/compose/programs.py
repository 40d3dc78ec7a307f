"""Starts the composition's programs as its services are told to, on free ports of loopback, and ends them."""

from __future__ import annotations

import contextlib
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.compose.composition import FOLDER, ROOT, Json, mounts

READY_SECONDS = 20.0
NOT_IN_STAND_IN = ("--tensorflow_", "--port=", "--rest_api_port=")
"""Thread pools of TensorFlow, which the stand-in has not, and ports, which are free ones here."""


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[int]:
    """The program's HTTP port, once its first line has told it; the program ends with the block."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        yield _port(process)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    deadline, seen = time.monotonic() + READY_SECONDS, ""
    while time.monotonic() < deadline and select.select([process.stdout], [], [], deadline - time.monotonic())[0]:
        line = process.stdout.readline()
        if not line:
            break
        seen += line
        found = re.match(r"ready (?:rest=|http://)127\.0\.0\.1:(\d+)", line)
        if found:
            return int(found[1])
    raise AssertionError(f"{process.args!r} did not become ready: {seen}")


def tfserving(service: Json, models: Path | None = None) -> contextlib.AbstractContextManager[int]:
    """The stand-in with the command line that the service gives to TensorFlow Serving."""
    words = [word for word in service["command"] if not word.startswith(NOT_IN_STAND_IN)]
    for mount in mounts(service):
        source = models if models is not None and mount["target"] == "/models" else FOLDER / mount["source"]
        words = [re.sub(rf"={re.escape(mount['target'])}(?=/|$)", f"={source}", word) for word in words]
    return started([sys.executable, "-m", "compose.targets.tfserving_standin", "--rest_api_port=free", *words])


def exporter(service: Json) -> contextlib.AbstractContextManager[int]:
    """The exporter with the service's command line."""
    words = [re.sub(r"^0\.0\.0\.0:\d+$", "127.0.0.1:0", word) for word in service["command"]]
    return started([sys.executable, "-m", "exporters", *words])


def probe(service: Json, inside: int, port: int) -> subprocess.CompletedProcess[str]:
    """Run the service's health check against `port` instead of the port inside."""
    kind, *command = service["healthcheck"]["test"]
    assert kind == "CMD"
    told = [word.replace(f"127.0.0.1:{inside}", f"127.0.0.1:{port}") for word in command]
    told = [word.replace(f"/dev/tcp/127.0.0.1/{inside}", f"/dev/tcp/127.0.0.1/{port}") for word in told]
    assert told != command
    told = [sys.executable if word == "python" else word for word in told]
    return subprocess.run(told, capture_output=True, text=True, timeout=15, check=False)
