from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from controller.edges.target_answer import Wanted, look
from controller.edges.target_call import Caller, NoAnswerError
from controller.edges.target_http import TargetHttp
from controller.plans.plan import Payloads, Target, Workload
from controller.ports import Finding
from tests.controller.builders import a_plan
from tests.controller.edges.pages import Page, serving

STATUS = "/v1/models/m"


def status(*versions: tuple[int, str]) -> Page:
    rows = [{"version": str(number), "state": state, "status": {"error_code": "OK"}} for number, state in versions]
    return Page(json.dumps({"model_version_status": rows}))


def model_server(first: Page, predict: Callable[[], Page] = lambda: Page('{"predictions": [1]}')) -> list[Finding]:
    def script(method: str, path: str, _body: bytes) -> Page:
        if method == "POST":
            return predict()
        return first if path == STATUS else Page("{}", 404)

    with serving(script) as server:
        return list(TargetHttp().preflight(a_plan(target=Target("tfserving", server.url, "m"))))


def http_service(script: Callable[[str, str, bytes], Page], tmp_path: Path, health: str) -> list[Finding]:
    (tmp_path / "x.jsonl").write_text('{"q": 1}\n')
    workload = Workload(Payloads(jsonl=tmp_path / "x.jsonl"), path="/score", required_fields=("score",))
    with serving(script) as server:
        target = Target("http", server.url, health=health, metrics=f"{server.url}/metrics")
        return list(TargetHttp().preflight(a_plan(target=target, workload=workload)))


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        ([(3, "LOADING")], "the server has 3 LOADING); wait until one is AVAILABLE"),
        ([(3, "END")], "no version of m is available"),
        ([], "the server has no version"),
    ],
)
def test_a_model_that_is_not_available_is_waited_for(versions: list[tuple[int, str]], words: str) -> None:
    findings = model_server(status(*versions))
    assert len(findings) == 1
    assert words in findings[0].sentence


def test_a_failed_load_is_told_with_its_reason() -> None:
    trouble = {"error_code": "NOT_FOUND", "error_message": "no saved_model.pb"}
    rows = [{"version": "1", "state": "END", "status": trouble}]
    (finding,) = model_server(Page(json.dumps({"model_version_status": rows})))
    assert "1 END (NOT_FOUND: no saved_model.pb)" in finding.sentence


def test_a_version_about_to_be_replaced_is_a_warning() -> None:
    findings = model_server(status((3, "LOADING"), (2, "AVAILABLE"), (1, "END")))
    assert findings[0].severity == "warn"
    assert "version 3 of m is about to replace version 2" in findings[0].sentence


@pytest.mark.parametrize("first", [Page("<html>"), Page("[]"), Page("{}"), Page('{"model_version_status": [7]}')])
def test_a_server_of_another_kind_is_recognised(first: Page) -> None:
    (finding,) = model_server(first)
    assert "does not answer as TensorFlow Serving does" in finding.sentence


def test_metadata_that_cannot_be_read_is_only_a_warning() -> None:
    findings = {finding.check: finding for finding in model_server(status((1, "AVAILABLE")))}
    assert findings["signature"].severity == "warn"
    assert findings["trial"].severity == "ok"


def test_some_failing_trial_requests_are_a_warning() -> None:
    pages = iter([Page('{"predictions": [1]}')] * 8 + [Page('{"error": "queue full"}', 503)] * 3)
    findings = {finding.check: finding for finding in model_server(status((1, "AVAILABLE")), lambda: next(pages))}
    assert findings["trial"].severity == "warn"
    assert "3 failed, the last with 503 queue full" in findings["trial"].sentence


def test_an_http_service_is_asked_for_health_scored_and_its_metrics_read(tmp_path: Path) -> None:
    def script(method: str, path: str, body: bytes) -> Page:
        match method, path:
            case "GET", "/ready":
                return Page("ok")
            case "GET", "/metrics":
                return Page("# HELP x y\nx_total 1\n", kind="text/plain")
            case "POST", "/score" if json.loads(body) == {"q": 1}:
                return Page('{"score": 0.5}')
        return Page("{}", 404)

    found = http_service(script, tmp_path, health="/ready")
    assert [(finding.check, finding.severity) for finding in found] == [
        ("health", "ok"),
        ("payload", "ok"),
        ("trial", "ok"),
        ("metrics", "ok"),
    ]
    assert "1 metric names at http://127.0.0.1:" in found[-1].sentence
    (finding,) = http_service(script, tmp_path, health="/nowhere")
    assert "/nowhere answers 404, not 200" in finding.sentence


def test_rewritten_names_are_found_and_said_which(tmp_path: Path) -> None:
    names = ("tensorflow_serving_request_count", "_tensorflow_serving_request_count")
    for name in names:

        def script(method: str, path: str, _body: bytes, name: str = name) -> Page:
            if method == "POST":
                return Page('{"predictions": [1]}')
            if path == "/metrics":
                return Page(f'# TYPE {name} counter\n{name}{{model_name="m"}} 7\n', kind="text/plain")
            return status((1, "AVAILABLE")) if path == STATUS else Page("{}", 404)

        with serving(script) as server:
            target = Target("tfserving", server.url, "m", metrics=f"{server.url}/metrics")
            found = TargetHttp().preflight(a_plan(target=target))[-1]
        assert found.severity == "warn"
        assert f"were rewritten (such as {name})" in found.sentence


def test_an_answer_that_drips_for_ever_comes_to_an_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                with suppress(OSError):
                    for _ in range(500):
                        connection.sendall(b"x")
                        time.sleep(0.02)

        thread = threading.Thread(target=drip)
        thread.start()
        begun = time.monotonic()
        with Caller({}) as caller, pytest.raises(NoAnswerError, match="did not end in time"):
            caller.get(f"http://127.0.0.1:{server.getsockname()[1]}/", 0.3)
        assert time.monotonic() - begun < 6
        thread.join()


@pytest.mark.parametrize(
    ("code", "content", "wrong", "odd"),
    [
        (200, b'{"predictions": [1, 2]}', None, None),
        (200, b'{"predictions": [1, NaN]}', None, "it holds NaN or Infinity"),
        (200, b'{"predictions": [1]}', "200 with 1 results for 2 rows", None),
        (200, b'{"outputs": [1, 2]}', "200 without predictions; it has outputs", None),
        (200, b"<html>", "not JSON", None),
        (200, b"[" * 100_000, "not JSON", None),
        (200, b"[1]", "not an object", None),
        (503, b'{"error": "a\\nb"}', "503 a b", None),
        (500, b"\xff" * 1000, "500 ", None),
        (302, b"", "302", None),
    ],
)
def test_answers_are_judged(code: int, content: bytes, wrong: str | None, odd: str | None) -> None:
    looked = look(code, content, Wanted(("predictions",), "predictions", 2))
    assert (looked.wrong is None) == (wrong is None)
    assert (wrong or "") in (looked.wrong or "")
    assert (odd or "") in (looked.odd or "")
    assert len(looked.wrong or "") < 400
