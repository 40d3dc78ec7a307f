"""What a user sees when something is wrong: the right exit code, one sentence that says what to do, nothing left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controller.edges.grafana_double import TOKEN, GrafanaDouble
from tests.end_to_end.conftest import predicts
from tests.end_to_end.stage import (
    Stage,
    a_stage,
    free_ports,
    generator_processes,
    only_run,
    record,
    stagelight,
    started,
    wait_for,
)
from tests.needs import missing

pytestmark = pytest.mark.slow

PLAN = """
version: 1
name: short
target: {kind: tfserving, rest: TARGET, model: scorer}
workload: {payloads: {random: {shape: [16]}}, think_time: 5ms, timeout: 2s}
stages:
  - {name: load, kind: hold, users: 4, for: LENGTH, discard: 1s}
objectives: [error_ratio < 1%]
"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with a_stage(tmp_path_factory.mktemp("failures")) as up:
        yield up


@pytest.fixture
def own(stage: Stage, tmp_path: Path) -> Stage:
    """The same stack with an archive of its own."""
    return Stage(stage.stack, tmp_path)


def plan(stage: Stage, length: str = "60s", **changes: str) -> Path:
    text = PLAN.replace("LENGTH", length)
    for old, new in changes.items():
        text = text.replace(old, new)
    return stage.plan("short", text)


def without_prometheus(stage: Stage) -> dict[str, str]:
    environment = stage.environment()
    del environment["STAGELIGHT_PROMETHEUS_URL"]
    return environment


def test_a_wrong_plan_names_every_line_and_costs_nothing(own: Stage) -> None:
    path = own.plan("wrong", "version: 1\nname: x\nstages: [{name: a, kind: hold, users: -5, for: 0s, usres: 1}]\n")
    done = stagelight("run", path, environment=own.environment())
    assert done.returncode == 2
    assert f"{path}:3:" in done.stderr
    for word in ("users", "usres", "target", "workload"):
        assert word in done.stderr
    assert not own.runs.exists()


def test_a_target_that_is_down_is_refused_before_any_process_starts(own: Stage) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: refused
        path = plan(own, TARGET=f"http://127.0.0.1:{nobody.getsockname()[1]}")
        done = stagelight("run", path, environment=without_prometheus(own))
    assert done.returncode == 6, done.stderr
    assert "start the server or change target.rest" in done.stdout + done.stderr
    assert record(only_run(own.runs))["outcome"] == "refused"


def test_a_model_that_is_not_there_is_named(own: Stage) -> None:
    done = stagelight("run", plan(own, scorer="scorre"), environment=without_prometheus(own))
    assert done.returncode == 6, done.stderr
    assert "scorre" in done.stdout


def test_a_target_elsewhere_is_refused_without_a_packet(own: Stage) -> None:
    done = stagelight("run", plan(own, TARGET="http://192.0.2.1:8501"), environment=without_prometheus(own))
    assert done.returncode == 6, done.stderr
    assert "STAGELIGHT_ALLOW_TARGETS" in done.stdout or "allow_targets" in done.stdout


def test_a_port_in_use_is_one_sentence(own: Stage) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = stagelight("run", plan(own), environment={**own.environment(), "STAGELIGHT_LISTEN": address})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert address in done.stderr
    assert "STAGELIGHT_LISTEN" in done.stderr


def test_two_controllers_never_share_an_archive(own: Stage) -> None:
    with started("run", plan(own), environment=without_prometheus(own)):
        wait_for((own.runs / ".lock").read_text, 20, "the first controller owns the archive")
        other = {**without_prometheus(own), "STAGELIGHT_LISTEN": f"127.0.0.1:{free_ports(1)[0]}"}
        done = stagelight("run", plan(own), environment=other)
    assert done.returncode == 2
    assert "owns it" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_drains_is_judged_and_leaves_nothing(own: Stage, number: signal.Signals) -> None:
    before = predicts(own.counts())
    with started("run", plan(own), environment=without_prometheus(own)) as process:
        wait_for(lambda: predicts(own.counts()) > before + 200, 30, "load is on")
        process.send_signal(number)
        output, _ = process.communicate(timeout=40)
    assert process.returncode == 130, output
    found = record(only_run(own.runs))
    assert (found["outcome"], found["verdict"]["ruling"]) == ("stopped_by_person", "inconclusive")
    preflight = sum(finding["requests"] for finding in found["findings"])
    canary = sum(found["canary"].values())
    assert sum(found["totals"].values()) == predicts(own.counts()) - before - preflight - canary
    assert generator_processes(found["run_id"]) == []


def test_a_killed_controller_stops_the_load_and_its_run_is_closed_by_the_next(own: Stage) -> None:
    """`kill -9`: no request later than three seconds after, no process ten seconds after, the run not lost."""
    grafana = GrafanaDouble()
    grafana.start()
    try:
        _kill_and_recover(own, grafana)
    finally:
        grafana.stop()


def _kill_and_recover(own: Stage, grafana: GrafanaDouble) -> None:
    token = own.folder / "token"
    token.write_text(TOKEN)
    settings = {"STAGELIGHT_GRAFANA_URL": grafana.url, "STAGELIGHT_GRAFANA_TOKEN_FILE": str(token)}
    environment = {**without_prometheus(own), **settings}
    before = predicts(own.counts())
    with started("run", plan(own), environment=environment) as process:
        wait_for(lambda: predicts(own.counts()) > before + 200, 30, "load is on")
        wait_for(lambda: grafana.rows, 10, "the first annotation is there")
        os.kill(process.pid, signal.SIGKILL)
        killed = time.monotonic()
        folder = only_run(own.runs)
        last, seen = killed, predicts(own.counts())
        while time.monotonic() - killed < 6:
            if (now := predicts(own.counts())) != seen:
                last, seen = time.monotonic(), now
            time.sleep(0.02)
        assert last - killed <= 3.0
        wait_for(lambda: not generator_processes(folder.name), 10 - (time.monotonic() - killed), "no process is left")
    done = stagelight("run", plan(own, length="3s"), environment=environment)
    assert f"closed as abandoned: {folder.name}" in done.stderr, done.stderr
    closed = record(folder)
    assert closed["outcome"] == "abandoned"
    assert "in stage load (steady)" in closed["because"]
    mine = [row for row in grafana.rows.values() if f"run_id:{folder.name}" in row["tags"]]
    assert len(mine) == 1
    assert "phase_end:unknown" in mine[0]["tags"]
    assert mine[0]["timeEnd"] > mine[0]["time"]


def test_a_disk_that_fills_up_breaks_the_run_and_says_so(own: Stage) -> None:
    """The journal is written before each action: without room for it nothing more is done."""
    if os.geteuid() != 0:
        missing("mounting a small file system needs root")
    own.runs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(own.runs)], check=True)
    try:
        environment = {**without_prometheus(own), "STAGELIGHT_MIN_FREE": "1"}
        done = stagelight("run", plan(own, length="8s"), environment=environment)
        run_id = next(own.runs.glob("short-*")).name
        assert generator_processes(run_id) == []
    finally:
        subprocess.run(["umount", "--lazy", str(own.runs)], check=True)
    assert done.returncode == 7, done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
