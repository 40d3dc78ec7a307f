"""Who hears of an alert, and what silences it: asked of amtool and of a real Alertmanager."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.needs import missing
from tests.prometheus import files
from tests.tools import ALERT_TEMPLATES

CONFIG = files.ROOT / "alertmanager.yml"
TOOLS = files.ROOT.parent / "build" / "tools" / "usr" / "bin"
RECEIVERS = {"critical": "on-call", "warning": "load-testers"}

INHIBITED = (
    ("LoadGeneratorSaturated", {"job": "loadgen"}, "ObjectiveBurning", {"plan": "p"}),
    ("LoadGeneratorSaturated", {"job": "loadgen"}, "ErrorBurst", {"job": "loadgen"}),
    ("LoadGeneratorBehindSchedule", {"job": "loadgen"}, "ObjectiveBurning", {"plan": "p"}),
    ("TargetDown", {"job": "tfserving", "instance": "t"}, "RunStalled", {"job": "loadgen"}),
    ("TargetDown", {"job": "exporter", "instance": "e"}, "ScrapeFailing", {"job": "exporter", "instance": "e"}),
    (
        "TargetRestarted",
        {"job": "tfserving", "instance": "t"},
        "TargetModelMissing",
        {"job": "tfserving", "instance": "t"},
    ),
)
HEARD = (
    ("LoadGeneratorSaturated", {"job": "loadgen"}, "TargetDown", {"job": "tfserving", "instance": "t"}),
    ("TargetDown", {"job": "exporter", "instance": "e"}, "ErrorBurst", {"job": "loadgen"}),
    ("TargetDown", {"job": "exporter", "instance": "e"}, "ScrapeFailing", {"job": "exporter", "instance": "f"}),
)


def program(name: str) -> str:
    """The program's path, or the end of the test."""
    found = shutil.which(name) or shutil.which(name, path=str(TOOLS))
    return found or missing(f"{name} is not there: `make tools` fetches Debian's package `prometheus-alertmanager`")


def test_the_configuration_is_valid() -> None:
    done = subprocess.run([program("amtool"), "check-config", str(CONFIG)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 inhibit rules" in done.stdout


@pytest.mark.parametrize("alert", sorted(files.alerts()))
def test_every_alert_has_its_receiver(alert: str) -> None:
    severity = files.alerts()[alert]["labels"]["severity"]
    command = [program("amtool"), "config", "routes", "test", f"--config.file={CONFIG}"]
    command += [f"--verify.receivers={RECEIVERS[severity]}", f"alertname={alert}", f"severity={severity}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_inhibitions_name_alerts_that_exist() -> None:
    rules = files.load(CONFIG)["inhibit_rules"]
    matchers = [matcher for rule in rules for side in ("source_matchers", "target_matchers") for matcher in rule[side]]
    named = {
        name
        for matcher in matchers
        if matcher.startswith("alertname")
        for name in matcher.partition("=")[2].strip('~"').split("|")
    }
    assert named <= set(files.alerts())
    assert "LoadGeneratorSaturated" in named


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Alertmanager with the shipped configuration."""
    if not ALERT_TEMPLATES.exists():
        missing(f"Debian's Alertmanager needs {ALERT_TEMPLATES}: install Debian's package `prometheus-alertmanager`")
    folder: Path = tmp_path_factory.mktemp("alertmanager")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [program("prometheus-alertmanager"), f"--config.file={CONFIG}", f"--storage.path={folder}"]
    command += [f"--web.listen-address={address}", "--cluster.listen-address="]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _await_ready(f"http://{address}", process)
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait(timeout=20)


def _await_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        assert process.poll() is None, "the Alertmanager ended at once"
        try:
            if requests.get(f"{url}/-/ready", timeout=2).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.1)
    pytest.fail("the Alertmanager was not ready within 30 s")


@pytest.mark.parametrize(("source", "of_source", "target", "of_target"), INHIBITED)
def test_what_explains_an_alert_silences_it(
    alertmanager: str, source: str, of_source: dict[str, str], target: str, of_target: dict[str, str]
) -> None:
    assert _state(alertmanager, (source, of_source), (target, of_target)) == "suppressed"


@pytest.mark.parametrize(("source", "of_source", "target", "of_target"), HEARD)
def test_what_does_not_explain_an_alert_leaves_it_alone(
    alertmanager: str, source: str, of_source: dict[str, str], target: str, of_target: dict[str, str]
) -> None:
    assert _state(alertmanager, (source, of_source), (target, of_target)) == "active"


def _state(url: str, source: tuple[str, dict[str, str]], target: tuple[str, dict[str, str]]) -> str:
    """The state of the target while both fire; afterwards neither does."""
    both = [_labels(*source), _labels(*target)]
    requests.post(f"{url}/api/v2/alerts", json=[{"labels": labels} for labels in both], timeout=5).raise_for_status()
    found = requests.get(f"{url}/api/v2/alerts", timeout=5).json()
    state = next(alert["status"]["state"] for alert in found if alert["labels"] == both[1])
    over = [{"labels": labels, "endsAt": "2020-01-01T00:00:00Z", "startsAt": "2019-01-01T00:00:00Z"} for labels in both]
    requests.post(f"{url}/api/v2/alerts", json=over, timeout=5).raise_for_status()
    return str(state)


def _labels(alert: str, more: dict[str, str]) -> dict[str, str]:
    return {"alertname": alert, "severity": files.alerts()[alert]["labels"]["severity"], **more}
