"""A whole Stagelight on free loopback ports for one test: the demo's world, the program as its user starts it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from controller.edges.local_stack import PORTS, LocalStack
from tests.needs import need

ROOT = Path(__file__).resolve().parents[2]


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def free_port_table() -> dict[str, int]:
    """A free port for every component of the demo."""
    return dict(zip(PORTS, free_ports(len(PORTS)), strict=True))


@dataclass(slots=True)
class Stage:
    """A local stack that is up, and a folder for runs."""

    stack: LocalStack
    folder: Path

    @property
    def runs(self) -> Path:
        """The archive."""
        return self.folder / "runs"

    @property
    def target(self) -> str:
        """Base URL of the stand-in."""
        return f"http://127.0.0.1:{self.stack.ports['tfserving']}"

    def environment(self, **more: str) -> dict[str, str]:
        """Settings for the program, as a user would export them."""
        return {
            **os.environ,
            "STAGELIGHT_RUNS": str(self.runs),
            "STAGELIGHT_DISCOVERY": str(self.stack.discovery),
            "STAGELIGHT_LISTEN": f"127.0.0.1:{self.stack.ports['stagelight']}",
            "STAGELIGHT_PROMETHEUS_URL": self.stack.prometheus_url,
            **more,
        }

    def plan(self, name: str, text: str) -> Path:
        """Write a plan whose `TARGET` is the stand-in."""
        path = self.folder / f"{name}.yaml"
        path.write_text(text.replace("TARGET", self.target))
        return path

    def query(self, expression: str, at: float | None = None) -> list[Any]:
        """Ask Prometheus; the result of an instant query."""
        question = {"query": expression, **({"time": str(at)} if at else {})}
        answer = requests.get(f"{self.stack.prometheus_url}/api/v1/query", params=question, timeout=10).json()
        assert answer["status"] == "success", answer
        result: list[Any] = answer["data"]["result"]
        return result

    def query_range(self, expression: str, start: float, end: float) -> list[Any]:
        """The result of a range query, a point every five seconds."""
        question = {"query": expression, "start": str(start), "end": str(end), "step": "5"}
        answer = requests.get(f"{self.stack.prometheus_url}/api/v1/query_range", params=question, timeout=30).json()
        assert answer["status"] == "success", (expression, answer)
        result: list[Any] = answer["data"]["result"]
        return result

    def counts(self) -> dict[str, Any]:
        """What the stand-in says it received."""
        counts: dict[str, Any] = requests.get(f"{self.target}/standin/counts", timeout=5).json()
        return counts


@contextlib.contextmanager
def a_stage(folder: Path) -> Iterator[Stage]:
    """Bring a stack up in `folder`, take it down at the end."""
    need("prometheus")
    before = Path.cwd()
    os.chdir(ROOT)
    stack = LocalStack(folder / "stack", free_port_table())
    try:
        stack.start()
        yield Stage(stack, folder)
    finally:
        stack.stop()
        os.chdir(before)


def stagelight(
    *arguments: object, environment: dict[str, str] | None = None, timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    command = [sys.executable, "-m", "controller", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


@contextlib.contextmanager
def started(*arguments: object, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Start the program; whatever happens, nothing of it is left afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "controller", *map(str, arguments)],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Poll until the condition is true; its value. Fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError, KeyError, IndexError, AssertionError):
            if value := condition():
                return value
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds:g} s")


def only_run(runs: Path) -> Path:
    """The folder of the one run there is."""
    folders = sorted(path.parent for path in runs.glob("*/journal.jsonl"))
    assert len(folders) == 1, folders
    return folders[0]


def record(folder: Path) -> dict[str, Any]:
    """A run's record."""
    body: dict[str, Any] = json.loads((folder / "record.json").read_text())
    return body


def generator_processes(run_id: str) -> Sequence[int]:
    """Process numbers of a run's generator."""
    from controller.edges.leftovers import processes_of

    return processes_of(run_id)
