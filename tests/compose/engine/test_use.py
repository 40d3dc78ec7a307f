"""How it is used: a plan of one's own, more workers, a stop in a run, an upgrade, a server of one's own."""

from __future__ import annotations

import functools
import json
import re
import time
from pathlib import Path
from typing import Any

from tests.compose.composition import by_ourselves
from tests.compose.engine import images
from tests.compose.engine.stack import CONTROLLER, GRAFANA, Stack, wait_for

WORKERS = "workers: {local: 0, remote: auto}\n"
MINE = """
version: 1
name: mine
target: {kind: tfserving, rest: "http://tfserving:8501", model: scorer}
workload: {payloads: {random: {shape: [16]}}, think_time: 20ms, timeout: 2s}
stages:
  - {name: load, kind: hold, users: 4, for: 6s, discard: 1s}
objectives: [error_ratio < 1%]
"""
_SIZE = re.compile(r"([0-9.]+)([KMG]i?)?B")
_UNIT = {None: 1, "K": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


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
    """Our own services, from the engine's own accounts; no run is on, no report is drawn, none begins."""
    ours = {name: idle.container(name) for name in ("controller", "loadgen-worker", "exporter")}

    def quiet() -> bool:
        drawn = "report.html" in idle.execute("controller", "ls", f"runs/{idle.runs()[-1]}")
        return idle.value("loadtest_run_active") == 0 and drawn and 20 < time.time() % 300 < 250

    wait_for(quiet, 180, "some time without a run")
    time.sleep(10)  # what the last run left to do
    before, begun = {name: _cpu_seconds(idle, each) for name, each in ours.items()}, time.monotonic()
    time.sleep(30)
    took = time.monotonic() - begun
    shares = {name: (_cpu_seconds(idle, each) - before[name]) / took for name, each in ours.items()}
    stats = idle.engine.docker("stats", "--no-stream", "--format", "{{json .}}", *ours.values()).splitlines()
    sizes = [json.loads(line)["MemUsage"].split(" / ")[0] for line in stats]
    figures["idle"] = {
        "cores": {name: round(share, 4) for name, share in shares.items()} | {"all": round(sum(shares.values()), 4)},
        "megabytes": round(sum(_bytes(size) for size in sizes) / 1e6),
    }
    assert sum(shares.values()) < 0.15, figures["idle"]  # the figure is published; this only sees a busy loop


def test_workers_scale_to_four_and_back(idle: Stack) -> None:
    for count in (4, 1):
        scale = ["--no-recreate", "--no-deps", "--scale", f"loadgen-worker={count}", "loadgen-worker"]
        idle.compose("up", "--detach", "--no-build", *scale)
        wait_for(functools.partial(_workers_are, idle, count), 60, f"{count} workers")
        record = idle.record(idle.by_hand(WORKERS + MINE))
        assert record["outcome"] == "completed", record["because"]
        assert record["fingerprint"]["generator"]["workers"] == count
        assert not any("workers reported" in reason for reason in map(str, record["verdict"].get("reasons", ())))


def test_a_controller_killed_in_a_run_closes_it_and_sigterm_ends_the_next_in_time(idle: Stack) -> None:
    known = set(idle.runs())
    idle.compose("restart", "controller")  # runs its plan at once
    (lost,) = _under_load(idle, known)
    idle.kill("controller")
    wait_for(lambda: idle.record(lost)["outcome"] == "abandoned", 90, "the lost run is closed")
    wait_for(lambda: idle.inspect("controller")["State"]["Health"]["Status"] == "healthy", 90, "it is healthy again")
    (stopped,) = _under_load(idle, known | {lost})
    begun = time.monotonic()
    idle.compose("stop", "controller")
    took = time.monotonic() - begun
    state = idle.inspect("controller")["State"]
    assert (state["ExitCode"], state["OOMKilled"]) == (0, False)
    assert took < 30
    idle.compose("start", "controller")
    assert wait_for(lambda: idle.record(stopped), 60, "the stopped run's record")["outcome"] == "stopped_by_person"


def test_an_upgrade_keeps_the_archive_and_fills_volumes_of_an_older_version(idle: Stack, tmp_path: Path) -> None:
    engine = idle.engine
    known, boards = set(idle.runs()), len(idle.get(GRAFANA, "/api/annotations"))
    token = idle.execute("controller", "cat", "/var/lib/stagelight/token/token")
    gone = "rm -rf /var/lib/stagelight/secret/worker /var/lib/stagelight/plan/compose.yaml"
    idle.compose("run", "--rm", "--no-deps", "--entrypoint", "sh", "prepare", "-c", gone)
    (tmp_path / "Dockerfile").write_text(f"FROM {images.image_of('controller')}\nLABEL version=next\n")
    images.build(engine, tmp_path, images.image_of("controller"))
    old = idle.container("controller")
    idle.up()
    assert idle.container("controller") != old
    assert known <= set(idle.runs())
    assert len(idle.get(GRAFANA, "/api/annotations")) >= boards
    assert idle.execute("controller", "cat", "/var/lib/stagelight/token/token") == token
    _completed(idle, known)


def test_one_variable_aims_it_at_a_server_of_ones_own(idle: Stack) -> None:
    words = [
        re.sub(r"=(scorer|8501|8500)$", r"=my_\1", word) for word in by_ourselves()["services"]["tfserving"]["command"]
    ]
    words = [word.replace("=my_850", "=860") for word in words]
    idle.compose("run", "--detach", "--rm", "--no-deps", "--name", "mine", "tfserving", *words)
    own = Stack(idle.engine, {"TARGET_URL": "http://mine:8601/v1/models/my_scorer"})
    known = set(own.runs())
    try:
        own.up()
        target = _completed(own, known)["fingerprint"]["target"]
        assert (target["rest"], target["model"]) == ("http://mine:8601", "my_scorer")
        assert own.value('max_over_time(up{job="tfserving",instance="mine:8601"}[2m])') == 1
        assert own.value('sum(max_over_time(:tensorflow:serving:request_count{instance="mine:8601"}[2m]))')
    finally:
        idle.engine.docker("rm", "--force", "mine", check=False)
        idle.up()


def _workers_are(stack: Stack, count: int) -> bool:
    return len(stack.containers("loadgen-worker")) == count


def _under_load(stack: Stack, known: set[str]) -> set[str]:
    """The runs that are new, once one is in a steady slot."""
    wait_for(lambda: set(stack.runs()) - known, 90, "a new run")
    wait_for(lambda: stack.value('sum(loadtest_phase{phase="steady"})'), 90, "the run is under load")
    return set(stack.runs()) - known


def _completed(stack: Stack, known: set[str]) -> dict[str, Any]:
    """The record of a new run that was completed. On a machine whose cores others hold, leases may run out, which ends
    a run as it should: then the schedule's next one counts."""

    def found() -> dict[str, Any] | None:
        records = [stack.record(run) for run in sorted(set(stack.runs()) - known) if stack.has_record(run)]
        return next((record for record in records if record["outcome"] == "completed"), None)

    record: dict[str, Any] = wait_for(found, 660, "a new run that is completed")
    return record


def _cpu_seconds(stack: Stack, container: str) -> float:
    """CPU time of a container so far, of control groups version 1 or 2."""
    old, new = "/sys/fs/cgroup/cpuacct/cpuacct.usage", "/sys/fs/cgroup/cpu.stat"
    said = stack.engine.docker("exec", container, "sh", "-c", f"cat {old} 2>/dev/null || cat {new}")
    found = re.search(r"usage_usec (\d+)", said)
    return int(found[1]) / 1e6 if found else int(said) / 1e9


def _bytes(text: str) -> float:
    found = _SIZE.fullmatch(text)
    assert found, text
    return float(found[1]) * _UNIT[found[2]]
