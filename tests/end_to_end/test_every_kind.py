"""No board stays empty, whatever kind of load a run sends: beside the closed loop over REST, an open one over gRPC and
somebody's own user classes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from dashboards.catalog import BOARDS
from dashboards.panels.client import CLOSED_LOOP
from dashboards.queries import Expression, expressions
from tests.end_to_end.conftest import FinishedRun
from tests.end_to_end.stage import Stage, stagelight

pytestmark = pytest.mark.slow

OPEN_OVER_GRPC = """
version: 1
name: open-over-grpc
target: {kind: tfserving, rest: TARGET, grpc: GRPC, model: scorer, metrics: TARGET/monitoring/prometheus/metrics}
workload: {protocol: grpc, payloads: {random: {shape: [16]}}, timeout: 2s}
workers: 1
stages:
  - {name: arrivals, kind: hold, loop: open, rate: 60/s, for: 10s, discard: 2s}
objectives: [p99 <= 2s]
"""
OWN_CLASSES = """
version: 1
name: own-classes
target: {kind: tfserving, rest: TARGET, model: scorer, metrics: TARGET/monitoring/prometheus/metrics}
workload: {locustfile: shoppers.py, host: "TARGET"}
workers: 1
stages:
  - {name: people, kind: hold, users: 4, for: 10s, discard: 2s}
objectives: [p99 <= 2s]
"""
SHOPPERS = """
from locust import FastHttpUser, constant, task


class Shopper(FastHttpUser):
    wait_time = constant(0.05)

    @task
    def buy(self):
        self.client.post("/v1/models/scorer:predict", json={"instances": [[0.0] * 16]})
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the boards' queries had to say over one run."""

    run: str
    empty: tuple[Expression, ...]


@pytest.fixture(scope="module", params=[OPEN_OVER_GRPC, OWN_CLASSES], ids=["open, gRPC", "own locustfile"])
def asked(request: pytest.FixtureRequest, finished_run: FinishedRun) -> Asked:
    """One more run on the stage where the closed loop has run, and every query over its time."""
    stage = finished_run.stage
    (stage.folder / "shoppers.py").write_text(SHOPPERS)
    text = request.param.replace("GRPC,", f"127.0.0.1:{stage.stack.ports['tfserving-grpc']},")
    plan = stage.plan(f"kind-{len(list(stage.folder.glob('kind-*')))}", text)
    begun = time.time()
    done = stagelight("run", plan, environment=stage.environment(), timeout=120)
    assert done.returncode in (0, 3, 4), done.stdout + done.stderr  # a busy machine may well saturate the generator
    return Asked(text, tuple(_empty(stage, begun, time.time())))


def _empty(stage: Stage, begun: float, ended: float) -> list[Expression]:
    queries = {found.expr: found for board in BOARDS for found in expressions(board, window=20.0)}
    return [found for found in queries.values() if not stage.query_range(found.expr, begun, ended)]


def test_no_panel_is_empty_without_a_reason(asked: Asked) -> None:
    unexplained = [f"{found.key}/{found.ref}: {found.expr}" for found in asked.empty if found.may_be_empty is None]
    assert not unexplained, "\n".join(unexplained)


def test_the_panels_of_the_open_loop_are_empty_without_one_only(asked: Asked) -> None:
    closed = {found.key for found in asked.empty if found.may_be_empty == CLOSED_LOOP}
    assert bool(closed) is ("loop: open" not in asked.run), closed
