"""What one real run leaves behind, from every side: the books, the clock, Prometheus, Grafana, the archive."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest
import requests

from controller.names import ALL as LOADTEST
from dashboards.catalog import BOARDS
from dashboards.queries import expressions
from exporters.names.loadgen import ALL as LOADGEN
from tests.end_to_end.conftest import FinishedRun
from tests.end_to_end.stage import ROOT, generator_processes

pytestmark = pytest.mark.slow

FEWEST_REQUESTS = 50_000
EXACT = 0.05
"""Seconds within which every account of a slot's boundary has to agree."""


def epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def over_the_run(run: FinishedRun, expression: str) -> list[Any]:
    """An expression over the run's whole time, asked at its end."""
    return run.stage.query(expression, run.ended)


def test_the_run_completed_with_a_verdict_that_can_be_believed(finished_run: FinishedRun) -> None:
    assert finished_run.record["outcome"] == "completed", finished_run.output
    assert finished_run.record["exit_code"] == finished_run.exit_code
    assert finished_run.exit_code in (0, 4), finished_run.output  # a busy machine may well saturate the generator
    assert finished_run.record["verdict"]["ruling"].upper() in finished_run.output


def test_target_generator_record_and_prometheus_count_the_same_requests(finished_run: FinishedRun) -> None:
    record = finished_run.record
    ended = sum(record["totals"].values())
    assert ended >= FEWEST_REQUESTS
    preflight = sum(finding["requests"] for finding in record["findings"])
    canary = sum(record["canary"].values())
    assert canary >= 5
    assert finished_run.received - preflight - canary == ended
    assert record["generator"]["started"] == ended
    assert sum(record["generator"]["counted"].values()) == ended
    span = f"{int(finished_run.ended - epoch(record['started'])) + 1}s"
    prometheus = over_the_run(finished_run, f"sum(max_over_time(loadgen_requests_total[{span}]))")
    assert int(float(prometheus[0]["value"][1])) == ended
    histogram = over_the_run(finished_run, f"sum(max_over_time(loadgen_request_duration_seconds_count[{span}]))")
    assert int(float(histogram[0]["value"][1])) == ended


def test_boundaries_agree_everywhere_with_what_the_generator_acknowledged(finished_run: FinishedRun) -> None:
    acknowledged = [(entry["seq"], entry["at"]) for entry in finished_run.journal if entry.get("action") == "OpenSlot"]
    planned = finished_run.record["timetable"]
    assert [seq for seq, _ in acknowledged] == [*range(len(planned)), len(planned)]  # and the drain
    starts = [row["time"] / 1000 for row in finished_run.annotations]
    assert starts == pytest.approx([at for _, at in acknowledged], abs=EXACT)
    assert [epoch(slot["started"]) for slot in planned] == pytest.approx([at for _, at in acknowledged][:-1], abs=EXACT)
    span = f"{int(finished_run.ended - starts[0]) + 30}s"
    gauges = over_the_run(finished_run, f"max by (seq) (max_over_time(loadtest_slot_start_timestamp_seconds[{span}]))")
    told = {int(row["metric"]["seq"]): float(row["value"][1]) for row in gauges}
    for seq, at in acknowledged[:-1]:
        assert told[seq] == pytest.approx(at, abs=EXACT)
    ends = [row["timeEnd"] / 1000 for row in finished_run.annotations]
    assert ends[:-1] == pytest.approx(starts[1:], abs=EXACT)


def test_slots_last_as_long_as_planned(finished_run: FinishedRun) -> None:
    for slot in finished_run.record["timetable"]:
        lasted = epoch(slot["ended"]) - epoch(slot["started"])
        assert lasted == pytest.approx(slot["planned_end"] - slot["planned_start"], abs=0.25), slot["stage"]


def test_annotations_say_which_run_plan_and_phase(finished_run: FinishedRun) -> None:
    assert finished_run.complaints == []
    run_id = finished_run.record["run_id"]
    for row in finished_run.annotations:
        assert {"stagelight", "run-phase", f"run_id:{run_id}", "plan:exact"} <= set(row["tags"])
    phases = [next(tag for tag in row["tags"] if tag.startswith("phase:")) for row in finished_run.annotations]
    assert phases == ["phase:warmup", *["phase:steady"] * 3, "phase:ramp", "phase:steady", "phase:drain"]


def test_no_scrape_failed(finished_run: FinishedRun) -> None:
    slots = finished_run.record["timetable"]
    first, last = epoch(slots[0]["started"]), epoch(slots[-1]["ended"])
    lowest = finished_run.stage.query(f"min by (job) (min_over_time(up[{int(last - first)}s]))", last)
    found = {row["metric"]["job"]: float(row["value"][1]) for row in lowest}
    assert found == dict.fromkeys(("loadgen", "stagelight", "exporter", "tfserving", "prometheus"), 1.0)


def test_after_the_run_no_generator_is_left_and_prometheus_has_no_dead_target(finished_run: FinishedRun) -> None:
    assert generator_processes(finished_run.record["run_id"]) == []
    assert finished_run.stage.query('up{job="loadgen"} == 0') == []
    url = f"{finished_run.stage.stack.prometheus_url}/api/v1/targets?state=active&scrapePool=loadgen"
    targets = requests.get(url, timeout=5).json()["data"]["activeTargets"]
    assert [target for target in targets if target["labels"]["job"] == "loadgen"] == []


def test_every_published_name_is_one_of_ours(finished_run: FinishedRun) -> None:
    span = f"{int(finished_run.ended - epoch(finished_run.record['started'])) + 1}s"
    names = over_the_run(finished_run, f'count by (__name__) (last_over_time({{job=~"loadgen|stagelight"}}[{span}]))')
    seen = {row["metric"]["__name__"] for row in names}
    known = {metric.name for metric in (*LOADGEN, *LOADTEST)}
    parts = {f"{name}{suffix}" for name in known for suffix in ("", "_bucket", "_count", "_sum")}
    infos = {"loadgen_info", "loadtest_run_info"}
    foreign = {
        name for name in seen - parts - infos if not name.startswith(("scrape_", "up", "ALERTS")) and ":" not in name
    }
    assert foreign == set()


def test_the_archive_is_whole(finished_run: FinishedRun) -> None:
    names = {path.name for path in finished_run.folder.iterdir()}
    assert {
        "plan.yaml", "record.json", "journal.jsonl", "latency.hlog", "seconds.csv", "series.om.gz", "report.html",
        "junit.xml", "locust.log", "panels.json.gz",
    } <= names  # fmt: skip
    assert not [name for name in names if name.endswith((".new", ".tmp"))]
    assert finished_run.journal[-1]["ended"] == "completed"


def test_no_panel_was_empty(finished_run: FinishedRun) -> None:
    """Every expression of every board had an answer during this run, unless it is listed with its reason."""
    slots = finished_run.record["timetable"]
    first, last = epoch(slots[0]["started"]), epoch(slots[-1]["ended"])
    empty = [
        f"{board.uid}: {found.key}/{found.ref}: {found.expr}"
        for board in BOARDS
        for found in expressions(board, window=20.0)
        if found.may_be_empty is None and not finished_run.stage.query_range(found.expr, first, last)
    ]
    assert not empty, "\n".join(empty)


def test_gate_judges_the_archive_as_the_run_was_judged(finished_run: FinishedRun) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "controller", "gate", str(finished_run.folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == finished_run.exit_code, done.stdout + done.stderr
