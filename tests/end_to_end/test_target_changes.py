"""A model version that is swapped in mid-run: the figures are those of neither version."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from tests.end_to_end.conftest import predicts
from tests.end_to_end.stage import Stage, a_stage, only_run, record, stagelight, started, wait_for

pytestmark = pytest.mark.slow

PLAN = """
version: 1
name: swapped
target: {kind: tfserving, rest: TARGET, model: scorer}
workload: {payloads: {random: {shape: [16]}}, think_time: 5ms}
stages:
  - {name: load, kind: hold, users: 2, for: 8s, discard: 1s}
objectives: [error_ratio < 5%]
"""


def test_a_version_that_comes_during_the_run_makes_it_invalid_also_for_the_gate(tmp_path: Path) -> None:
    with a_stage(tmp_path) as stage:
        _swap_in_mid_run(stage)
        found = record(only_run(stage.runs))
        gate = stagelight("gate", only_run(stage.runs))
    kinds = {reason["kind"] for reason in found["verdict"]["reasons"]}
    assert "target_changed" in kinds, found["verdict"]["reasons"]
    assert found["verdict"]["ruling"] == "invalid"
    assert gate.returncode == 4
    assert "target changed during the run" in gate.stdout


def _swap_in_mid_run(stage: Stage) -> None:
    environment = stage.environment()
    del environment["STAGELIGHT_PROMETHEUS_URL"]
    with started("run", stage.plan("swapped", PLAN), environment=environment) as process:
        wait_for(lambda: predicts(stage.counts()) > 300, 40, "load is on")
        script = "loads: [{version: 2, at: 0s, takes: 1s}]"
        requests.post(f"{stage.target}/standin/script", data=script, timeout=5).raise_for_status()
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 4, output
