"""One real run that many tests look at: stand-in, exporters, Prometheus, a Grafana double, and the program itself."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.controller.edges.grafana_double import TOKEN, GrafanaDouble
from tests.end_to_end.stage import Stage, a_stage, only_run, record, stagelight

PLAN = """
version: 1
name: exact
target:
  kind: tfserving
  rest: TARGET
  model: scorer
  metrics: TARGET/monitoring/prometheus/metrics
workload:
  payloads: {random: {shape: [16]}}
workers: 1
stages:
  - {name: warm, kind: hold, users: 2, for: 4s, phase: warmup}
  - {name: climb, kind: staircase, users: {from: 4, step: 4, every: 6s, to: 12}, discard: 2s}
  - {name: fall, kind: ramp, users: {from: 12, to: 8}, for: 3s}
  - {name: soak, kind: soak, users: 8, for: 45s, discard: 3s}
objectives: [error_ratio < 1%, p99 <= 2s]
"""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that is over, the world in which it ran still up, and what was seen from outside."""

    stage: Stage
    folder: Path
    record: dict[str, Any]
    journal: list[dict[str, Any]]
    annotations: list[dict[str, Any]]
    complaints: list[str]
    received: int  # inference requests that the stand-in counted
    output: str
    exit_code: int
    ended: float  # epoch seconds


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FinishedRun]:
    """About a minute; shared by every test that only looks."""
    grafana = GrafanaDouble()
    grafana.start()
    try:
        with a_stage(tmp_path_factory.mktemp("stage")) as stage:
            token = stage.folder / "token"
            token.write_text(TOKEN)
            settings = {"STAGELIGHT_GRAFANA_URL": grafana.url, "STAGELIGHT_GRAFANA_TOKEN_FILE": str(token)}
            plan = stage.plan("exact", PLAN)
            done = stagelight("run", plan, environment=stage.environment(**settings))
            ended = time.time()
            folder = only_run(stage.runs)
            lines = (folder / "journal.jsonl").read_text().splitlines()
            yield FinishedRun(
                stage=stage,
                folder=folder,
                record=record(folder),
                journal=[json.loads(line) for line in lines],
                annotations=sorted(
                    (row for row in grafana.rows.values() if "run-phase" in row["tags"]),
                    key=lambda row: int(row["time"]),
                ),
                complaints=list(grafana.complaints),
                received=predicts(stage.counts()),
                output=done.stdout + done.stderr,
                exit_code=done.returncode,
                ended=ended,
            )
    finally:
        grafana.stop()


def predicts(counts: dict[str, Any]) -> int:
    """Inference requests received, out of the stand-in's own counts."""
    return int(counts["received"].get("rest", {}).get("predict", 0))
