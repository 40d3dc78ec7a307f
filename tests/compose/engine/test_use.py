"""How it is used: a plan of one's own beside the daemon, crashes, restarts, an upgrade, and an end without remains."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.compose.composition import FOLDER
from tests.compose.engine import images
from tests.compose.engine.engine import Engine
from tests.compose.engine.stack import CONTROLLER, GRAFANA, Stack, servers, wait_for

CYCLES = int(os.environ.get("STAGELIGHT_COMPOSE_CYCLES", "3"))
MINE = """
version: 1
name: mine
target: {kind: tfserving, rest: "http://tfserving:8501", model: scorer}
workload: {payloads: {random: {shape: [16]}}, think_time: 20ms, timeout: 2s}
stages:
  - {name: load, kind: hold, users: 2, for: 6s, discard: 1s}
objectives: [error_ratio < 1%]
"""


@pytest.fixture
def idle(stack: Stack) -> Stack:
    """No run is on."""
    wait_for(lambda: stack.value("loadtest_run_active") == 0 and stack.runs(), 150, "the first run is over")
    return stack


def test_a_plan_of_ones_own_runs_beside_the_daemon(idle: Stack, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(MINE)
    tmp_path.chmod(0o755)
    words = ["run", "--wait", "3m", "/mine/x.yaml"]
    mine = ["--no-deps", "--volume", f"{tmp_path}:/mine:ro"]
    done = idle.compose("run", "--rm", *mine, "controller", *words, check=False, timeout=280)
    assert done.returncode in {0, 3, 4}, done.stdout + done.stderr
    assert "run folder" in done.stdout
    run = next(name for name in idle.runs() if name.startswith("mine-"))
    assert idle.record(run)["outcome"] == "completed"
    phases = f'count_over_time(loadtest_run_info{{run_id="{run}"}}[5m])'
    assert idle.query(phases), "the run's own controller was not scraped"
    assert "loadtest_schedule_next" in idle.get(CONTROLLER, "/metrics")
    wait_for(
        lambda: [each for each in idle.get(GRAFANA, "/api/annotations") if f"run_id:{run}" in each["tags"]],
        20,
        "annotations of the run",
    )


def test_idle_it_costs_little(idle: Stack, figures: dict[str, Any]) -> None:
    """Our own services: controller and exporter, from the engine's own accounts."""
    ours = [idle.container(name) for name in ("controller", "exporter")]

    def cpu_seconds() -> float:
        return sum(
            int(idle.engine.docker("exec", each, "cat", "/sys/fs/cgroup/cpuacct/cpuacct.usage")) / 1e9 for each in ours
        )

    def quiet() -> bool:
        return idle.value("loadtest_run_active") == 0 and time.time() % 300 < 240

    wait_for(quiet, 120, "half a minute without a run")
    before, begun = cpu_seconds(), time.monotonic()
    time.sleep(30)
    share = (cpu_seconds() - before) / (time.monotonic() - begun)
    stats = idle.engine.docker("stats", "--no-stream", "--format", "{{json .}}", *ours).splitlines()
    memory = {json.loads(line)["Name"]: json.loads(line)["MemUsage"].split(" / ")[0] for line in stats}
    figures["idle"] = {"cores": round(share, 4), "memory": memory}
    assert share < 0.10  # the figure is published; this only sees a busy loop


@pytest.mark.parametrize("service", [name for name in servers() if name != "controller"])
def test_a_killed_container_comes_back(idle: Stack, service: str) -> None:
    before = idle.inspect(service)["State"]["StartedAt"]
    _kill(idle, service)
    wait_for(lambda: idle.inspect(service)["State"]["StartedAt"] != before, 30, f"{service} is started again")
    wait_for(lambda: idle.inspect(service)["State"]["Health"]["Status"] == "healthy", 60, f"{service} is healthy again")


def test_a_controller_killed_in_a_run_comes_back_and_closes_that_run(idle: Stack) -> None:
    known = set(idle.runs())
    idle.compose("restart", "controller")  # runs its plan at once
    wait_for(lambda: idle.value('sum(loadtest_phase{phase="steady"})'), 60, "the run is under load")
    (lost,) = set(idle.runs()) - known
    _kill(idle, "controller")
    wait_for(lambda: idle.record(lost)["outcome"] == "abandoned", 60, "the lost run is closed")
    wait_for(lambda: idle.inspect("controller")["State"]["Health"]["Status"] == "healthy", 60, "it is healthy again")


def test_sigterm_in_a_run_is_heard_within_the_grace_time(idle: Stack) -> None:
    wait_for(lambda: idle.value("loadtest_run_active") == 0, 120, "no run is on")
    known = set(idle.runs())
    idle.compose("restart", "controller")
    wait_for(lambda: idle.value('sum(loadtest_phase{phase="steady"})'), 60, "the run is under load")
    begun = time.monotonic()
    idle.compose("stop", "controller")
    took = time.monotonic() - begun
    state = idle.inspect("controller")["State"]
    assert (state["ExitCode"], state["OOMKilled"]) == (0, False)
    assert took < 30
    idle.compose("start", "controller")
    (stopped,) = set(idle.runs()) - known - {idle.runs()[-1]} or {idle.runs()[-1]}
    assert idle.record(stopped)["outcome"] == "stopped_by_person"


def test_an_upgrade_keeps_the_archive_and_the_accounts(idle: Stack, tmp_path: Path) -> None:
    engine = idle.engine
    known, boards = set(idle.runs()), len(idle.get(GRAFANA, "/api/annotations"))
    token = idle.execute("controller", "cat", "/var/lib/stagelight/token/token")
    (tmp_path / "Dockerfile").write_text(f"FROM {images.image_of('controller')}\nLABEL version=next\n")
    images.build(engine, tmp_path, images.image_of("controller"))
    old = idle.container("controller")
    idle.up()
    assert idle.container("controller") != old
    assert known <= set(idle.runs())
    assert len(idle.get(GRAFANA, "/api/annotations")) >= boards
    assert idle.execute("controller", "cat", "/var/lib/stagelight/token/token") == token


def test_nothing_is_left_after_every_cycle(stack: Stack, figures: dict[str, Any]) -> None:
    engine, clean = stack.engine, 0
    stack.down("--volumes")
    for _ in range(CYCLES):
        assert remains(engine) == {}
        stack.up()
        assert all("(healthy)" in stack.states()[name] for name in servers())
        stack.down("--volumes")
        clean += 1
    assert remains(engine) == {}
    figures["clean_cycles"] = f"{clean} of {CYCLES}"
    assert not (FOLDER / "runs").exists()


def remains(engine: Engine) -> dict[str, str]:
    """Containers, volumes and networks of the composition that are still there."""
    found = {
        "containers": engine.docker("ps", "--all", "--quiet"),
        "volumes": engine.docker("volume", "ls", "--quiet"),
        "networks": engine.docker("network", "ls", "--quiet", "--filter", "type=custom"),
    }
    return {what: text for what, text in found.items() if text.strip()}


def _kill(stack: Stack, service: str) -> None:
    """As a crash does it: the program ends by a signal, and nobody has asked the engine to stop the container."""
    number = stack.inspect(service)["State"]["Pid"]
    stack.engine.kill(number)
