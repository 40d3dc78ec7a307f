"""From `up` to the first verdict: order, health, targets, annotations, and what the home board shows."""

from __future__ import annotations

import functools
import json
import time
from typing import Any

from tests.compose.engine.images import image_of
from tests.compose.engine.stack import (
    ALERTMANAGER,
    CONTROLLER,
    GRAFANA,
    PROMETHEUS,
    Stack,
    servers,
    steps,
    wait_for,
)  # fmt: skip

VERDICT_SECONDS = 300
"""From `up` to a verdict at most; 90 are promised where nothing else uses the cores, and the figure is published."""
MEGABYTES = 250
HOME_BOARD = {
    "phases": "max_over_time(loadtest_phase[2m]) > 0",
    "load profile": "max_over_time(loadtest_target_users[2m]) > 0",
    "server histograms": "sum(:tensorflow:serving:request_latency_bucket)",
    "generator health": "max_over_time(loadgen_saturation[2m])",
    "verdict": "loadtest_verdict == 1",
    "host": "host_cpu_seconds_total",
}


def test_servers_are_healthy_and_steps_have_ended_well(stack: Stack) -> None:
    states = stack.states()
    assert set(states) == {*servers(), *steps()}
    for name in servers():
        assert "(healthy)" in states[name], (name, states[name])
    for name in steps():
        assert states[name].startswith("Exited (0)"), (name, states[name])


def test_nothing_started_before_what_it_waits_for(stack: Stack) -> None:
    at = {name: stack.inspect(name)["State"] for name in (*servers(), *steps())}
    for early, late in (("prepare", "prometheus"), ("prepare", "grafana"), ("prepare", "controller")):
        assert at[early]["FinishedAt"] <= at[late]["StartedAt"], (early, late)
    for early, late in (("tfserving", "controller"), ("prometheus", "controller"), ("grafana", "grafana-token")):
        first_good = next(each for each in at[early]["Health"]["Log"] if each["ExitCode"] == 0)
        assert at[early]["StartedAt"] < at[late]["StartedAt"], (early, late)
        assert first_good["ExitCode"] == 0


def test_provisioning_was_read_and_the_data_source_answers(stack: Stack) -> None:
    boards = {each["uid"] for each in stack.get(GRAFANA, "/api/search")}
    home = stack.get(GRAFANA, "/api/dashboards/home")["dashboard"]
    assert home["uid"] in boards
    assert stack.get(GRAFANA, "/api/datasources/uid/prometheus/health") == {"status": "OK"}


def test_every_target_is_up_and_alerts_have_a_receiver(stack: Stack) -> None:
    def all_up() -> bool:
        found = stack.get(PROMETHEUS, "/api/v1/targets?state=active")["data"]["activeTargets"]
        jobs = {each["labels"]["job"] for each in found}
        return jobs >= {"stagelight", "exporter", "tfserving", "prometheus"} and all(
            each["health"] == "up" for each in found
        )

    wait_for(all_up, 30, "every target is up")
    wait_for(
        lambda: stack.get(PROMETHEUS, "/api/v1/alertmanagers")["data"]["activeAlertmanagers"], 30, "an Alertmanager"
    )
    assert stack.get(ALERTMANAGER, "/api/v2/status")["config"]["original"]
    assert stack.get(PROMETHEUS, "/api/v1/rules")["data"]["groups"]


def test_the_first_run_ends_in_a_verdict_in_time(stack: Stack, figures: dict[str, Any]) -> None:
    wait_for(lambda: stack.value("sum(loadtest_verdict)") == 1, VERDICT_SECONDS, "a verdict in Prometheus")
    took = time.monotonic() - figures["begun"]
    figures["up_to_verdict_seconds"] = round(took, 1)
    (run, *_) = stack.runs()
    record = stack.record(run)
    figures["first_verdict"] = record["verdict"]["ruling"]
    figures["first_run_requests"] = stack.value('sum(loadgen_requests_total{outcome="ok"})') or "scraped away"
    assert record["outcome"] == "completed", record["because"]
    assert record["verdict"]["ruling"] != "fail", record["verdict"]
    assert record["fingerprint"]["generator"]["workers"] == 1, "the load comes from the one loadgen-worker"
    assert took <= VERDICT_SECONDS, f"the verdict came after {took:.0f} s"


def test_the_home_board_has_what_it_shows(stack: Stack) -> None:
    for what, expression in HOME_BOARD.items():
        wait_for(functools.partial(stack.query, expression), 20, f"{what}: {expression}")
    assert 'loadtest_runs_total{outcome="completed"' in stack.get(CONTROLLER, "/metrics")


def test_the_runs_phases_are_annotations_written_with_the_token(stack: Stack) -> None:
    run = stack.runs()[0]

    def regions() -> list[dict[str, Any]]:
        return [each for each in stack.get(GRAFANA, "/api/annotations") if f"run_id:{run}" in each["tags"]]

    wait_for(lambda: len(regions()) >= 5, 30, "annotations of every slot")
    assert {tag for each in regions() for tag in each["tags"]} >= {"phase:warmup", "phase:steady"}
    assert all(each["timeEnd"] > each["time"] for each in regions())
    assert stack.get(GRAFANA, "/api/complaints") == []


def test_the_report_and_the_record_are_in_the_archive(stack: Stack) -> None:
    wanted = {"record.json", "report.html", "latency.hlog", "series.om.gz", "junit.xml"}  # the report is drawn last
    run = stack.runs()[0]
    wait_for(lambda: wanted <= set(stack.execute("controller", "ls", f"runs/{run}").split()), 60, "every file")


def test_our_image_is_small(stack: Stack, figures: dict[str, Any]) -> None:
    engine = stack.engine
    sizes = {
        name: int(engine.docker("image", "inspect", "--format", "{{.Size}}", name)) / 1e6
        for name in (image_of("controller"), "stagelight-base:bare")
    }
    ours, base = sizes.values()
    figures["image_megabytes"] = {"whole": round(ours), "stand_in_base": round(base), "added_by_us": round(ours - base)}
    assert ours <= MEGABYTES, json.dumps(figures["image_megabytes"])
