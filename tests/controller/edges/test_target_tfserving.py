from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controller.edges.rehearsal import RehearsalProbe
from controller.edges.target_http import TargetHttp
from controller.plans.plan import Payloads, Plan, Target, Workload
from controller.ports import Finding, TargetProbe
from tests.compose.targets.tfserving_standin.running import PAGE, ROW, StandIn, a_stand_in, monitored
from tests.controller.builders import a_plan
from tests.controller.edges.real_prometheus import free_port


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    options = ("--versions", "1,2", "--version_labels", "stable=1")
    with a_stand_in(*monitored(tmp_path_factory.mktemp("monitoring")), *options) as running:
        yield running


def plan_for(standin: StandIn, **changes: Any) -> Plan:
    rest = f"http://{standin.host}:{standin.port}"
    target = Target("tfserving", rest, "m", version=2, metrics=f"{rest}{PAGE}")
    workload = changes.pop("workload", Workload(Payloads(random_shape=(len(ROW),), count=20)))
    return a_plan(target=replace(target, **changes), workload=workload)


def look(plan: Plan) -> dict[str, Finding]:
    return {finding.check: finding for finding in TargetHttp().preflight(plan)}


def refused(plan: Plan, check: str) -> str:
    findings = TargetHttp().preflight(plan)
    assert [finding.check for finding in findings if not finding.fit] == [check]
    assert findings[-1].check == check
    return findings[-1].sentence


def test_a_good_target_is_fit_in_every_respect(standin: StandIn) -> None:
    before = standin.counts()
    found = look(plan_for(standin))
    assert [(check, finding.severity) for check, finding in found.items()] == [
        ("model", "ok"),
        ("signature", "ok"),
        ("payload", "ok"),
        ("trial", "ok"),
        ("metrics", "ok"),
    ]
    assert "10 requests one after the other: median" in found["trial"].sentence
    assert "[?, 16]" in found["signature"].sentence
    assert "colon form" in found["metrics"].sentence
    assert before != standin.counts()


@pytest.mark.parametrize("form", ["row", "column"])
def test_both_forms_and_several_rows_are_answered(standin: StandIn, form: Any) -> None:
    workload = Workload(Payloads(random_shape=(16,), count=7, rows=3), form=form)
    assert all(finding.severity == "ok" for finding in look(plan_for(standin, workload=workload)).values())


def test_a_target_that_is_down_is_named_with_what_to_do() -> None:
    port = free_port()
    plan = a_plan(target=Target("tfserving", f"http://127.0.0.1:{port}", "m"))
    (finding,) = TargetHttp().preflight(plan)
    assert f"connection refused at http://127.0.0.1:{port}/v1/models/m: start the server or change target.rest" in (
        finding.sentence
    )
    assert "connection refused" in TargetHttp().identity(plan)["unknown"]


def test_a_wrong_model_name_is_named(standin: StandIn) -> None:
    sentence = refused(plan_for(standin, model="resnet"), "model")
    assert "there is no model 'resnet'" in sentence
    assert "correct target.model" in sentence


def test_a_version_that_is_not_there_is_told_with_those_that_are(standin: StandIn) -> None:
    sentence = refused(plan_for(standin, version=9), "model")
    assert "version 9 of m is not available (the server has 2 AVAILABLE, 1 AVAILABLE)" in sentence


def test_several_versions_without_a_choice_are_a_warning(standin: StandIn) -> None:
    found = look(plan_for(standin, version=None))
    assert found["model"].severity == "warn"
    assert "versions 1, 2 of m are available" in found["model"].sentence


def test_labels_are_tried_by_a_real_request(standin: StandIn) -> None:
    assert look(plan_for(standin, version=None, label="stable"))["trial"].severity == "ok"
    assert "canary" in refused(plan_for(standin, version=None, label="canary"), "payload")


def test_a_signature_that_is_not_there_is_told_with_those_that_are(standin: StandIn) -> None:
    workload = Workload(Payloads(random_shape=(16,)), signature="training")
    assert "the model has no signature training, it has " in refused(plan_for(standin, workload=workload), "signature")


def test_a_payload_of_another_shape_is_refused_before_it_is_sent(standin: StandIn, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((5, 8), np.float32))
    for payloads in (Payloads(random_shape=(8,)), Payloads(npy=tmp_path / "x.npy")):
        sentence = refused(plan_for(standin, workload=Workload(payloads)), "signature")
        assert "[?, 16], an instance of the payload is [8]" in sentence


def test_every_kind_of_line_is_tried_and_the_wrong_one_found(standin: StandIn, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in ([*ROW], [*ROW], ROW[:3])))
    workload = Workload(Payloads(jsonl=path))
    findings = TargetHttp().preflight(plan_for(standin, workload=workload))
    assert [(finding.check, finding.fit) for finding in findings[2:]] == [("payload", True), ("payload", False)]
    assert "payload kind 2 of 2 was answered with 400" in findings[-1].sentence


def test_an_answer_without_a_wanted_field_is_refused(standin: StandIn) -> None:
    workload = Workload(Payloads(random_shape=(16,)), required_fields=("scores",))
    assert "200 without scores; it has predictions" in refused(plan_for(standin, workload=workload), "payload")


def test_payloads_that_are_gone_are_refused(standin: StandIn, tmp_path: Path) -> None:
    workload = Workload(Payloads(npy=tmp_path / "gone.npy"))
    assert "gone.npy" in refused(plan_for(standin, workload=workload), "payload")


def test_a_secret_that_is_not_set_is_refused_before_anything_is_sent(standin: StandIn) -> None:
    workload = Workload(Payloads(random_shape=(16,)), headers=(("Authorization", "Bearer ${env:NOT_SET_ANYWHERE}"),))
    assert "NOT_SET_ANYWHERE" in refused(plan_for(standin, workload=workload), "address")


def test_without_a_metrics_page_the_run_is_poorer_and_not_refused(standin: StandIn) -> None:
    for metrics, words in (
        (None, "target.metrics is not set"),
        (f"http://{standin.host}:{standin.port}/nowhere", "answer 404; start TF Serving with --monitoring_config_file"),
        (f"http://127.0.0.1:{free_port()}/metrics", "change target.metrics"),
    ):
        found = look(plan_for(standin, metrics=metrics))["metrics"]
        assert found.severity == "warn"
        assert words in found.sentence


def test_a_slow_first_answer_is_a_warning_and_a_slow_target_a_refusal() -> None:
    with a_stand_in("--latency", "constant:60ms") as slow:
        quick = Workload(Payloads(random_shape=(16,)), timeout=timedelta(milliseconds=20))
        findings = TargetHttp().preflight(plan_for(slow, version=None, metrics=None, workload=quick))
        assert [(finding.check, finding.severity) for finding in findings[2:]] == [
            ("payload", "warn"),
            ("trial", "refuse"),
        ]
        assert "begin with a warm-up stage" in findings[2].sentence
        assert "all 10 trial requests failed" in findings[3].sentence


def test_the_identity_has_versions_with_states_and_the_server_s_name(standin: StandIn) -> None:
    assert TargetHttp().identity(plan_for(standin)) == {
        "versions": [{"version": 2, "state": "AVAILABLE"}, {"version": 1, "state": "AVAILABLE"}],
        "server": "Stagelight TF Serving stand-in",
    }
    assert TargetHttp().identity(plan_for(standin, model="x"))["unknown"].startswith("404 ")


def test_the_rehearsal_probes_too(standin: StandIn) -> None:
    probes: list[TargetProbe] = [TargetHttp(), RehearsalProbe()]
    for probe in probes:
        assert all(finding.fit for finding in probe.preflight(plan_for(standin)))
        assert probe.identity(plan_for(standin))
