"""The demo's world on loopback: stand-in, exporters, Prometheus, Grafana if there is one; up in order, then down."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import requests

from controller.edges.child_process import ChildProcess
from controller.edges.debian_package import unpack
from controller.ports import EdgeError

LOOPBACK = "127.0.0.1"
PORTS: Mapping[str, int] = {
    "tfserving": 8501,
    "tfserving-grpc": 8500,
    "exporter": 9692,
    "stagelight": 9690,
    "prometheus": 9090,
    "grafana": 3000,
}
READY_SECONDS = 30.0
NO_PROMETHEUS = (
    "Prometheus is not on PATH and could not be fetched ({why}). Install it (Debian: apt-get install prometheus), "
    "or use the composition instead: docker compose -f compose/compose.yaml up"
)


@dataclass(slots=True)
class LocalStack:
    """Everything around the controller; `folder` holds configuration, data and logs. Ports by component name."""

    folder: Path
    ports: Mapping[str, int] = field(default_factory=lambda: dict(PORTS))
    tools: Path = Path("build/tools")
    _children: list[ChildProcess] = field(default_factory=list)

    def claim_ports(self) -> None:
        """Raise `EdgeError` naming every port that something else listens on."""
        taken = [f"{name} {port}" for name, port in self.ports.items() if _in_use(port)]
        if taken:
            raise EdgeError(
                f"could not start: already in use on {LOOPBACK}: port of {', '.join(taken)}. Stop what listens there, "
                "or choose another port with --port NAME=NUMBER (make demo DEMO='--port prometheus=9191')"
            )

    def start(self) -> None:
        """Bring everything up. Raises `EdgeError`; call `stop` in any case."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_prometheus_folder()
        prometheus = self.find_prometheus()
        self._start_target()
        self._start_exporter()
        self._start_prometheus(prometheus)
        self._start_grafana()

    def stop(self) -> None:
        """End everything, last started first."""
        while self._children:
            self._children.pop().end()

    def urls(self) -> dict[str, str]:
        """Where a person can look."""
        urls = {"Prometheus": self.prometheus_url, "controller metrics": f"{self._url('stagelight')}/metrics"}
        if shutil.which("grafana"):
            urls["Grafana"] = f"{self._url('grafana')}/d/stagelight-load-test"
        return {**urls, "target (stand-in)": f"{self._url('tfserving')}/v1/models/scorer"}

    def plan(self, path: Path) -> Path:
        """The plan for this stack: the same file, or a copy whose target is at the port chosen for it."""
        if self.ports["tfserving"] == PORTS["tfserving"]:
            return path
        usual = f"http://{LOOPBACK}:{PORTS['tfserving']}"
        copy = self.folder / path.name
        copy.write_text(path.read_text().replace(usual, self._url("tfserving")))
        return copy

    @property
    def prometheus_url(self) -> str:
        """Base URL of the demo's Prometheus."""
        return self._url("prometheus")

    @property
    def grafana_url(self) -> str | None:
        """Base URL of the demo's Grafana, if there is one."""
        return self._url("grafana") if shutil.which("grafana") else None

    @property
    def discovery(self) -> Path:
        """Folder of the target files that Prometheus watches."""
        return self.folder / "prometheus" / "targets"

    def find_prometheus(self) -> str:
        """Path of the program: from PATH, else Debian's package unpacked into `tools`. Raises `EdgeError`."""
        found = shutil.which("prometheus") or shutil.which("prometheus", path=str(self.tools / "usr" / "bin"))
        if found:
            return found
        try:
            return str(unpack(["prometheus"], self.tools) / "prometheus")
        except EdgeError as error:
            raise EdgeError(NO_PROMETHEUS.format(why=error)) from error

    def _start_target(self) -> None:
        options = ["--port", str(self.ports["tfserving-grpc"]), "--rest_api_port", str(self.ports["tfserving"])]
        options += ["--model_name", "scorer", "--enable_batching", "true"]
        options += ["--batching_parameters_file", "compose/tfserving/batching.config"]
        options += ["--monitoring_config_file", "compose/tfserving/monitoring.config"]
        self._start("tfserving", [sys.executable, "-m", "compose.targets.tfserving_standin", *options])
        self._await("tfserving", "/v1/models/scorer")

    def _start_exporter(self) -> None:
        listen = f"{LOOPBACK}:{self.ports['exporter']}"
        self._start("exporter", [sys.executable, "-m", "exporters", "host", "gpu", "--listen", listen])
        self._await("exporter", "/metrics")

    def _start_prometheus(self, program: str) -> None:
        shutil.rmtree(self.folder / "tsdb", ignore_errors=True)
        options = [
            f"--config.file={self.folder / 'prometheus' / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.folder / 'tsdb'}",
            f"--web.listen-address={LOOPBACK}:{self.ports['prometheus']}",
        ]
        self._start("prometheus", [program, *options])
        self._await("prometheus", "/-/ready")

    def _start_grafana(self) -> None:
        program = shutil.which("grafana")
        if program is None:
            return
        environment = {
            "GF_SERVER_HTTP_ADDR": LOOPBACK,
            "GF_SERVER_HTTP_PORT": str(self.ports["grafana"]),
            "GF_PATHS_DATA": str(self.folder / "grafana"),
            "GF_PATHS_PROVISIONING": str(Path("compose/grafana/provisioning").resolve()),
            "GF_AUTH_ANONYMOUS_ENABLED": "true",
            "GF_ANALYTICS_REPORTING_ENABLED": "false",
            "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
            "STAGELIGHT_PROMETHEUS_URL": self.prometheus_url,
            "STAGELIGHT_DASHBOARDS": str(Path("dashboards/json").resolve()),
        }
        self._start(
            "grafana",
            [program, "server", "--homepath", os.environ.get("GRAFANA_HOME", "/usr/share/grafana")],
            environment,
        )
        self._await("grafana", "/api/health")

    def _write_prometheus_folder(self) -> None:
        """Copy the configuration and point its jobs at the demo's ports; generator and controller come and go."""
        target = self.folder / "prometheus"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree("prometheus", target, ignore=shutil.ignore_patterns("tests", "*.md"))
        self.discovery.mkdir(exist_ok=True)
        for job in ("exporter", "tfserving", "prometheus"):
            listing = [{"targets": [f"{LOOPBACK}:{self.ports[job]}"], "labels": {}}]
            (self.discovery / f"{job}.json").write_text(json.dumps(listing))

    def _start(self, name: str, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        self._children.append(ChildProcess(name, command, self.folder / f"{name}.log", environment))

    def _await(self, name: str, path: str) -> None:
        """Wait until the component just started answers. Raises `EdgeError` with its last words."""
        child, deadline = self._children[-1], time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and child.running():
            try:
                if requests.get(self._url(name) + path, timeout=2).ok:
                    return
            except requests.RequestException:
                pass
            time.sleep(0.1)
        why = "it did not answer in time" if child.running() else f"it ended: {child.last_words()}"
        raise EdgeError(f"could not start {name}: {why}; its log is {child.log}")

    def _url(self, name: str) -> str:
        return f"http://{LOOPBACK}:{self.ports[name]}"


def _in_use(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return True
            raise EdgeError(f"could not use port {port} on {LOOPBACK}: {error.strerror}") from error
    return False
