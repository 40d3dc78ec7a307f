"""The composition on an engine: up, down, and what can be asked of it from outside."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.compose.composition import FILE, FOLDER, by_ourselves, is_step, services
from tests.compose.engine.engine import Engine
from tests.compose.engine.materials import NEWER

COMPOSE = NEWER / "usr/libexec/docker/cli-plugins/docker-compose"
GRAFANA, PROMETHEUS, ALERTMANAGER, CONTROLLER, TFSERVING = 3000, 9090, 9093, 9690, 8501

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stack:
    """One composition; `choices` are what compose/.env would say."""

    engine: Engine
    choices: dict[str, str]

    def compose(self, *words: str, check: bool = True, timeout: float = 180) -> subprocess.CompletedProcess[str]:
        """Run the compose plugin on our file."""
        line = [str(COMPOSE), "--file", str(FILE), "--env-file", "/dev/null", *words]
        done = subprocess.run(
            line,
            env=self.engine.environment | self.choices,
            capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise AssertionError(
                f"compose {' '.join(words)}: {done.stderr[-1000:]}\n{self.states()}\n{self.complaints()}"
            )
        return done

    def up(self, *words: str, timeout: float = 180) -> None:
        """Bring it up and wait until every server is healthy; `--wait` takes a step that has ended for a failure."""
        self.compose("up", "--detach", "--no-build", *words, timeout=timeout)
        try:
            wait_for(
                lambda: all("(healthy)" in self.states()[name] for name in servers()), 120, "every server is healthy"
            )
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.states()}\n{self.complaints()}") from error

    def down(self, *words: str) -> None:
        """Take it down."""
        self.compose("down", "--timeout", "20", *words)

    def container(self, service: str) -> str:
        """The id of the service's container, ended or not."""
        return self.compose("ps", "--all", "--quiet", service).stdout.split()[0]

    def containers(self, service: str) -> list[str]:
        """The ids of all of the service's containers that run."""
        return self.compose("ps", "--quiet", service).stdout.split()

    def by_hand(self, plan: str) -> str:
        """Run a plan in the daemon's container, where workers come to; the run's name."""
        known = set(self.runs())
        self.engine.docker("exec", "-i", self.container("controller"), "sh", "-c", "cat > /tmp/mine.yaml", input=plan)
        words = ["stagelight", "run", "--quiet", "--wait", "4m", "/tmp/mine.yaml"]
        done = self.compose(
            "exec", "-T", "-e", "STAGELIGHT_LISTEN=0.0.0.0:9691", "controller", *words, check=False, timeout=400
        )
        assert done.returncode in {0, 3, 4}, done.stdout + done.stderr
        (run,) = (name for name in set(self.runs()) - known if name.startswith("mine-"))
        return run

    def kill(self, service: str) -> None:
        """As a crash does it: the program ends by a signal, and nobody has asked the engine to stop the container."""
        self.engine.kill(self.inspect(service)["State"]["Pid"])

    def inspect(self, service: str) -> Json:
        """All that the engine tells of the service's container."""
        found: list[Json] = json.loads(self.engine.docker("inspect", self.container(service)))
        return found[0]

    def states(self) -> dict[str, str]:
        """Every container of the composition with its state in words."""
        form = '{{.Label "com.docker.compose.service"}}\t{{.Status}}'
        lines = self.engine.docker("ps", "--all", "--format", form, check=False).splitlines()
        return dict(line.split("\t", 1) for line in lines if "\t" in line)

    def complaints(self) -> str:
        """The last words of every container that is not well."""
        unwell = [name for name, state in self.states().items() if "healthy)" not in state and "(0)" not in state]
        return self.compose("logs", "--no-color", "--tail", "8", *unwell, check=False).stdout[-4000:] if unwell else ""

    def get(self, port: int, path: str, token: str | None = None) -> Any:
        """Ask a published port; JSON is decoded."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)

        def ask() -> Any:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 -- loopback of the engine
                return answer.read().decode()

        text = self.engine.within(ask)
        return json.loads(text) if text[:1] in "[{" else text

    def query(self, expression: str) -> list[Json]:
        """An instant query."""
        found: list[Json] = self.get(PROMETHEUS, f"/api/v1/query?query={quote(expression)}")["data"]["result"]
        return found

    def value(self, expression: str) -> float | None:
        """The one value of an expression, or None where there is no series."""
        found = self.query(expression)
        return float(found[0]["value"][1]) if found else None

    def execute(self, service: str, *words: str, check: bool = True) -> str:
        """Run a program in the service's container."""
        return self.engine.docker("exec", self.container(service), *words, check=check)

    def runs(self) -> list[str]:
        """The archive's runs, oldest first."""
        script = "import os; print(*sorted(n for n in os.listdir('runs') if os.path.isdir('runs/' + n)))"
        return sorted(
            self.execute("controller", "python", "-c", script).split(), key=lambda name: name.rsplit("-", 2)[1]
        )

    def has_record(self, run: str) -> bool:
        """Whether the run is over."""
        return "record.json" in self.execute("controller", "ls", f"runs/{run}").split()

    def record(self, run: str) -> Json:
        """The record of a run."""
        found: Json = json.loads(self.execute("controller", "cat", f"runs/{run}/record.json"))
        return found


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Look once a second until the condition is true; its value. Fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    last: object = None
    while time.monotonic() < deadline:
        try:
            if found := condition():
                return found
        except (OSError, ValueError, KeyError, IndexError, AssertionError) as error:
            last = error
        time.sleep(0.5)
    raise AssertionError(f"not within {seconds:g} s: {what} ({last})")


def servers() -> list[str]:
    """Services of the default profile that stay up."""
    return [name for name, each in services(by_ourselves()) if not is_step(each) and not each.get("profiles")]


def steps() -> list[str]:
    """Services of the default profile that do one thing and end."""
    return [name for name, each in services(by_ourselves()) if is_step(each) and not each.get("profiles")]


def free_megabytes() -> float:
    """Disk left where the engine's data is."""
    return shutil.disk_usage(FOLDER).free / 1e6
