"""`stagelight demo` as its user starts it: one command up, a verdict, nothing left; Ctrl-C in any phase."""

from __future__ import annotations

import signal
import socket
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import pytest
import requests

from controller.edges.local_stack import PORTS, LocalStack
from controller.ports import EdgeError
from tests.end_to_end.stage import free_port_table, only_run, record, stagelight, started, wait_for
from tests.needs import need

pytestmark = pytest.mark.slow

Ports = dict[str, int]

PLAN = """
version: 1
name: brief
target: {kind: tfserving, rest: "http://127.0.0.1:8501", model: scorer}
workload: {payloads: {random: {shape: [16]}}, think_time: 5ms}
stages:
  - {name: load, kind: hold, users: 2, for: 6s, discard: 1s}
objectives: [error_ratio < 5%]
"""


@pytest.fixture
def ports() -> Ports:
    need("prometheus")
    return free_port_table()


def demo(folder: Path, ports: Ports, *more: str) -> list[str]:
    choices = [f"--port={name}={number}" for name, number in ports.items()]
    plan = folder / "brief.yaml"
    plan.write_text(PLAN)
    return ["demo", f"--plan={plan}", f"--folder={folder / 'demo'}", f"--runs={folder / 'runs'}", *choices, *more]


def listening(ports: Ports) -> Sequence[str]:
    """Components whose port somebody listens on."""
    found = []
    for name, number in ports.items():
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", number)) == 0:
                found.append(name)
    return found


def test_it_shows_progress_and_a_verdict_and_keeps_everything_up_until_it_is_interrupted(
    tmp_path: Path, ports: Ports
) -> None:
    with started(*demo(tmp_path, ports, "--keep")) as process:
        assert process.stdout is not None
        seen = "".join(takewhile(lambda line: "everything stays up" not in line, process.stdout))
        wait_for(lambda: requests.get(f"http://127.0.0.1:{ports['prometheus']}/-/ready", timeout=2).ok, 5, "still up")
        assert set(listening(ports)) == set(PORTS) - {"grafana"}
        process.send_signal(signal.SIGINT)
        output = seen + process.communicate(timeout=30)[0]
    found = record(only_run(tmp_path / "runs"))
    assert found["outcome"] == "completed", output
    assert process.returncode == found["exit_code"]
    assert "load / steady" in output  # progress went by
    assert f"Verdict: {found['verdict']['ruling'].upper()}" in output
    assert "report.html" in output
    assert f"http://127.0.0.1:{ports['prometheus']}" in output
    assert output.rstrip().endswith("demo: everything is stopped")
    assert listening(ports) == []


@pytest.mark.parametrize("phase", ["starting the stack", "load"])
def test_ctrl_c_in_any_phase_cleans_up(tmp_path: Path, ports: Ports, phase: str) -> None:
    with started(*demo(tmp_path, ports)) as process:
        if phase == "load":
            wait_for(
                lambda: "OpenSlot" in (only_run(tmp_path / "runs") / "journal.jsonl").read_text(), 60, "load is on"
            )
        else:
            wait_for(lambda: listening({"tfserving": ports["tfserving"]}), 30, "the target is up")
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert output.rstrip().endswith("demo: everything is stopped")
    assert listening(ports) == []


def test_ports_in_use_are_named_in_one_sentence_and_nothing_starts(tmp_path: Path, ports: Ports) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", ports["prometheus"]))
        taken.listen()
        done = stagelight(*demo(tmp_path, ports))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"prometheus {ports['prometheus']}" in done.stderr
    assert "--port" in done.stderr


def test_without_prometheus_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EdgeError, match=r"Install it .* docker compose"):
        LocalStack(tmp_path, tools=tmp_path / "tools").find_prometheus()
