"""The daemon: a due plan runs by itself, SIGTERM ends it cleanly, a crash leaves nothing behind."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.end_to_end.stage import Stage, a_stage, free_ports, only_run, record, stagelight, started, wait_for

pytestmark = pytest.mark.slow

PLAN = """
version: 1
name: minutely
target: {kind: tfserving, rest: TARGET, model: scorer}
workload: {payloads: {random: {shape: [16]}}, think_time: 5ms, timeout: 2s}
stages:
  - {name: load, kind: hold, users: 2, for: LENGTH, discard: 1s}
objectives: [error_ratio < 1%]
schedule: {cron: "* * * * *", timezone: Europe/Berlin}
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with a_stage(tmp_path) as up:
        yield up


def metrics(stage: Stage) -> str:
    return requests.get(f"http://127.0.0.1:{stage.stack.ports['stagelight']}/metrics", timeout=5).text


def test_a_due_plan_runs_and_sigterm_ends_the_daemon_after_its_drain(stage: Stage) -> None:
    plan = stage.plan("minutely", PLAN.replace("LENGTH", "50s"))
    with started("serve", plan, environment=stage.environment()) as daemon:
        wait_for(lambda: "loadtest_schedule_next_timestamp_seconds{" in metrics(stage), 20, "the daemon is up")
        assert "loadtest_run_active 0.0" in metrics(stage)
        wait_for(lambda: 'phase="steady"' in metrics(stage), 130, "the due run is under load")
        assert "loadtest_run_active 1.0" in metrics(stage)
        daemon.send_signal(signal.SIGTERM)
        output, _ = daemon.communicate(timeout=60)
    assert daemon.returncode == 0, output
    found = record(only_run(stage.runs))
    assert found["outcome"] == "stopped_by_person"
    assert found["because"] == "stopped by SIGTERM"
    assert "next plan=minutely due=" in output
    assert "ended run=" in output


def test_plans_without_a_schedule_are_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    text = PLAN.replace("TARGET", "http://127.0.0.1:1").replace("LENGTH", "5s")
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("schedule")))
    done = stagelight("serve", path)
    assert done.returncode == 2
    assert "no plan has a schedule" in done.stderr


def test_a_plan_is_run_by_hand_beside_the_daemon_which_waits_its_turn(stage: Stage) -> None:
    served = stage.plan("minutely", PLAN.replace("LENGTH", "2s").replace('"* * * * *"', '"0 0 1 1 *"'))
    by_hand = stage.plan("mine", PLAN.replace("LENGTH", "4s").replace("minutely", "mine"))
    elsewhere = stage.environment(STAGELIGHT_LISTEN=f"127.0.0.1:{free_ports(1)[0]}")
    with started("serve", served, environment=stage.environment()) as daemon:
        wait_for(lambda: "loadtest_schedule_next_timestamp_seconds{" in metrics(stage), 20, "the daemon is up")
        done = stagelight("run", by_hand, "--quiet", environment=elsewhere)
        assert done.returncode in {0, 3, 4}, done.stderr
        (folder,) = stage.runs.glob("mine-*")
        assert record(folder)["outcome"] == "completed"
        second = stagelight("serve", served, environment=elsewhere)
        assert (second.returncode, "the schedules of" in second.stderr) == (2, True)
        daemon.send_signal(signal.SIGTERM)
        output, _ = daemon.communicate(timeout=30)
    assert daemon.returncode == 0, output
    assert "closed as abandoned" not in output
