"""Against the TF Serving stand-in: what the server counted, the generator counted."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.plans.plan import Payloads
from tests.controller.generator.drive import Drive, a_spec

pytestmark = pytest.mark.slow

MONITORING = Path(__file__).parents[3] / "compose" / "tfserving" / "monitoring.config"


@pytest.fixture
def standin() -> Iterator[str]:
    command = [sys.executable, "-m", "compose.targets.tfserving_standin", "--rest_api_port", "0"]
    server = subprocess.Popen(
        [*command, "--monitoring_config_file", str(MONITORING)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        found = re.search(r"rest=(\S+)", server.stdout.readline())
        assert found is not None
        yield f"http://{found[1]}"
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def test_the_server_and_the_generator_count_the_same(standin: str, tmp_path: Path) -> None:
    before = _predicted(standin)
    spec = a_spec(standin, model="default", form="column", payloads=Payloads(random_shape=(16,), rows=2, count=50))
    with Drive(spec, tmp_path / "locust.log") as drive:
        drive.order(6, measured=True)
        drive.run(1.5)
        drained = drive.drain()
        assert drained.totals["ok"] == drained.started > 200
        assert _predicted(standin) - before == drained.started
        assert drive.quit() == 0


def _predicted(url: str) -> int:
    with urllib.request.urlopen(f"{url}/monitoring/prometheus/metrics", timeout=5) as page:  # noqa: S310 - loopback
        text = page.read().decode()
    found = re.search(r'^:tensorflow:serving:request_count\{model_name="default",status="OK"\} (\d+)$', text, re.M)
    return int(found[1]) if found else 0
