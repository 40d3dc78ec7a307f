"""A target that speaks gRPC alone: looked at before load, known after it, over TLS and with secrets as metadata."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from controller.edges.target_http import TargetHttp
from controller.plans.loader import load_plan
from controller.plans.plan import Payloads, Plan, Target, Workload
from controller.plans.problems import PlanError
from controller.plans.tls import Tls
from controller.ports import Finding
from tests.controller.builders import a_plan
from tests.controller.edges.real_prometheus import free_port
from tests.controller.generator.grpc_server import a_grpc_server, answer

ARRAY = Payloads(random_shape=(4,), count=8)


def plan_for(port: int, *, secure: bool = False, tls: Tls | None = None, **workload: Any) -> Plan:
    """Over gRPC alone."""
    place = f"grpcs://localhost:{port}" if secure else f"127.0.0.1:{port}"
    target = Target("tfserving", grpc=place, model="m", tls=tls)
    return a_plan(target=target, workload=Workload(**{"payloads": ARRAY, "protocol": "grpc", **workload}))


def look(plan: Plan) -> list[tuple[str, str]]:
    return [(finding.check, finding.severity) for finding in TargetHttp().preflight(plan)]


def refused(plan: Plan) -> Finding:
    """The last finding, which is the one that is not fit."""
    findings = TargetHttp().preflight(plan)
    assert [finding.fit for finding in findings] == [True] * (len(findings) - 1) + [False], findings
    return findings[-1]


def test_status_signature_and_a_real_predict_are_asked_over_grpc_and_nothing_else_is() -> None:
    with a_grpc_server() as served:
        plan = plan_for(served.port)
        assert look(plan) == [("grpc", "ok"), ("signature", "ok"), ("payload", "ok"), ("metrics", "warn")]
        assert "answered by version 3" in TargetHttp().preflight(plan)[2].sentence
        assert TargetHttp().identity(plan) == {"versions": [{"version": 3, "state": "AVAILABLE"}]}
        assert len(served.seen) == 2
    down = refused(plan)
    assert down.check == "grpc"
    assert "start the server, or correct target.grpc" in down.sentence
    assert "UNAVAILABLE" in TargetHttp().identity(plan)["unknown"]


@pytest.mark.parametrize(
    ("server", "workload", "check", "words"),
    [
        ({"versions": ((3, 20),)}, {}, "grpc", "no version of m is available (the server has 3 LOADING)"),
        ({}, {"signature": "other"}, "signature", "the model has no signature other, it has serving_default"),
        (
            {},
            {"payloads": Payloads(random_shape=(5,))},
            "signature",
            "x [?, 4], an instance of the payload is [5]",
        ),
        ({}, {"required_fields": ("logits",)}, "payload", "has no output logits, it has scores"),
        ({}, {"headers": (("Authorization", "Bearer ${env:NOT_SET_ANYWHERE}"),)}, "address", "NOT_SET_ANYWHERE"),
        ({"predict": lambda _r, c: c.abort(grpc.StatusCode.INVALID_ARGUMENT, "no")}, {}, "payload", "INVALID_ARGUMENT"),
        ({"predict": lambda _r, _c: b"\xff"}, {}, "payload", "something that is no message"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(server: Any, workload: Any, check: str, words: str) -> None:
    with a_grpc_server(**server) as served:
        finding = refused(plan_for(served.port, **workload))
    assert (finding.check, words in finding.sentence) == (check, True), finding.sentence


def test_types_that_the_model_does_not_take_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([["a", "b", "c", "d"]]))
    with a_grpc_server() as served:
        finding = refused(plan_for(served.port, payloads=Payloads(npy=tmp_path / "x.npy")))
        assert "the input x takes DT_FLOAT, and the payload holds <U1" in finding.sentence
        for kind in (">f8", "float16", "bool", "<i4"):
            np.save(tmp_path / "x.npy", np.ones((3, 4)).astype(kind))
            plan = plan_for(served.port, payloads=Payloads(npy=tmp_path / "x.npy"))
            assert look(plan)[2] == ("payload", "ok"), kind


def test_an_answer_with_nan_is_remarkable_and_a_secret_is_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_TOKEN", "s3cret")
    with a_grpc_server(lambda _r, _c: answer([float("nan")])) as served:
        plan = plan_for(served.port, headers=(("Authorization", "Bearer ${env:MODEL_TOKEN}"),))
        assert look(plan)[2] == ("payload", "warn")
        assert served.seen[-1]["authorization"] == "Bearer s3cret"
        assert look(replace(plan, workload=replace(plan.workload, allow_nan=True)))[2] == ("payload", "ok")


@pytest.mark.parametrize("asks", [False, True])
def test_over_tls_the_certificate_is_checked_and_ours_is_shown(pems: Path, asks: bool) -> None:
    key, cert = (pems / "key.pem").read_bytes(), (pems / "cert.pem").read_bytes()
    credentials = grpc.ssl_server_credentials([(key, cert)], cert if asks else None, require_client_auth=asks)
    ours = Tls(ca_file=pems / "cert.pem", client_cert=pems / "cert.pem", client_key=pems / "key.pem")
    with a_grpc_server(credentials=credentials) as served:
        known = ours if asks else Tls(ca_file=pems / "cert.pem")
        assert look(plan_for(served.port, secure=True, tls=known))[2] == ("payload", "ok")
        for stranger in (None, *((Tls(ca_file=pems / "cert.pem"),) if asks else ())):
            assert "UNAVAILABLE" in refused(plan_for(served.port, secure=True, tls=stranger)).sentence
        wrong = refused(plan_for(served.port, secure=True, tls=Tls(ca_file=pems / "key.pem")))
        assert "key.pem holds no certificate in PEM form" in wrong.sentence


def test_nothing_is_sent_to_a_grpc_target_that_is_not_allowed() -> None:
    target = Target("tfserving", grpc="grpcs://203.0.113.9:8500", model="m")
    finding = refused(replace(plan_for(free_port()), target=target))
    assert "target.grpc is 203.0.113.9, which is not this machine and not allowed" in finding.sentence


PLAN = """version: 1
name: p
target: {kind: tfserving, model: m, %s}
workload: {payloads: {random: {from: model}}, %s}
stages:
  - {name: steady, kind: hold, users: 5, for: 30s}
"""


@pytest.mark.parametrize(
    ("target", "workload", "words"),
    [
        ('grpc: "127.0.0.1:8500"', "protocol: grpc", ""),
        ('grpc: "grpcs://localhost:8500"', "protocol: grpc, degraded: {field: source, value: cache}", ""),
        ('grpc: "127.0.0.1:8500"', "timeout: 2s", "rest has no address; write protocol: grpc, or add target.rest"),
        ("version: 2", "protocol: grpc", "target.rest: is missing, and so is grpc; add one of them"),
        ('grpc: "127.0.0.1:8500", tls: {}', "protocol: grpc", "write grpcs://127.0.0.1:8500"),
        ('grpc: "grpcs://a:1", tls: {verify: false}', "protocol: grpc", "target.tls.verify: false is not possible"),
    ],
)
def test_a_plan_says_how_its_target_speaks_grpc(target: str, workload: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN % (target, workload))
    if not words:
        assert load_plan(tmp_path / "plan.yaml").target.rest is None
        return
    with pytest.raises(PlanError) as caught:
        load_plan(tmp_path / "plan.yaml")
    assert words in str(caught.value)


def test_a_large_file_is_read_to_its_end_before_load(tmp_path: Path) -> None:
    array = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32, shape=(3_000_000, 4))  # sparse
    array[2_999_999, 3] = np.nan
    del array
    with a_grpc_server() as served:
        finding = refused(plan_for(served.port, payloads=Payloads(npy=tmp_path / "x.npy")))
        assert "x.npy, row 3000000: NaN or Infinity; clean the data" in finding.sentence
        assert served.seen == []
