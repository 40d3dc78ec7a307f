"""The health checks do what they are for, against the real programs; TF Serving is the stand-in on the same files."""

from __future__ import annotations

import functools
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.compose import programs
from tests.compose.composition import Json, by_ourselves
from tests.needs import need

SERVICES: Json = by_ourselves()["services"]
ANSWERS = Path(__file__).with_name("scorer_answers.json")


class QuietFiles(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
        """Keep the test's output clean."""


@pytest.fixture(scope="module")
def tfserving() -> Iterator[int]:
    with programs.tfserving(SERVICES["tfserving"]) as port:
        yield port


def test_the_server_is_healthy_once_its_model_is_loaded(tfserving: int) -> None:
    need("bash")
    done = programs.probe(SERVICES["tfserving"], 8501, tfserving)
    assert (done.returncode, done.stderr) == (0, "")


def test_probing_is_not_counted_as_a_request(tfserving: int) -> None:
    before = requests_counted(tfserving)
    for _ in range(3):
        assert programs.probe(SERVICES["tfserving"], 8501, tfserving).returncode == 0
    assert requests_counted(tfserving) == before
    ask(tfserving, "/v1/models/scorer")
    assert requests_counted(tfserving) == before + 1


@pytest.mark.parametrize(
    ("page", "healthy"),
    [
        ('{model_path="/models/scorer/1",status="success"} 1', True),
        ('{model_path="/models/scorer/1",status="fail"} 3', False),
        ('{model_path="/models/other/1",status="success"} 1', False),
    ],
)
def test_a_model_counts_only_when_it_has_been_loaded(page: str, healthy: bool, tmp_path: Path) -> None:
    folder = tmp_path / "monitoring/prometheus"
    folder.mkdir(parents=True)
    (folder / "metrics").write_text(f":tensorflow:cc:saved_model:load_attempt_count{page}\n")
    handler = functools.partial(QuietFiles, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        done = programs.probe(SERVICES["tfserving"], 8501, server.server_port)
        server.shutdown()
    assert (done.returncode == 0) is healthy


@pytest.mark.parametrize(("name", "inside"), [("tfserving", 8501), ("controller", 9690), ("exporter", 9692)])
def test_what_does_not_listen_is_not_healthy(name: str, inside: int) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        assert programs.probe(SERVICES[name], inside, held.getsockname()[1]).returncode != 0


def test_grafanas_check_fails_where_nothing_listens() -> None:
    need("curl")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        assert programs.probe(SERVICES["grafana"], 3000, held.getsockname()[1]).returncode != 0


def test_the_exporter_starts_as_told_and_is_healthy() -> None:
    with programs.exporter(SERVICES["exporter"]) as port:
        done = programs.probe(SERVICES["exporter"], 9692, port)
        assert (done.returncode, done.stderr) == (0, "")
        page = ask(port, "/metrics").decode()
    assert "\nhost_" in page
    assert "\ngpu_exporter_up " in page


def test_the_served_version_is_the_newest_and_answers_as_the_exported_model_does(tfserving: int) -> None:
    status = json.loads(ask(tfserving, "/v1/models/scorer"))
    states = [(each["version"], each["state"]) for each in status["model_version_status"]]
    assert states == [("2", "AVAILABLE")]
    told = [each for each in json.loads(ANSWERS.read_text()) if each["version"] == 2]
    body = json.dumps({"instances": [each["features"] for each in told]}).encode()
    found = json.loads(ask(tfserving, "/v1/models/scorer:predict", body))
    np.testing.assert_allclose(found["predictions"], [each["scores"] for each in told], rtol=0, atol=1e-6)


def test_the_server_batches_as_the_file_says(tfserving: int) -> None:
    body = json.dumps({"instances": [[0.5] * 16] * 3}).encode()
    ask(tfserving, "/v1/models/scorer:predict", body)
    page = ask(tfserving, "/monitoring/prometheus/metrics").decode()
    assert ':tensorflow:serving:batching_session:padding_size_bucket{execution_batch_size="4",le="1"}' in page


def requests_counted(port: int) -> float:
    page = ask(port, "/monitoring/prometheus/metrics").decode()
    lines = [line for line in page.splitlines() if line.startswith(":tensorflow:serving:request_count{")]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def ask(port: int, path: str, body: bytes | None = None) -> Any:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body)
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 -- loopback
        return answer.read()
