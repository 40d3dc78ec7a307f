"""Starting and ending: signals, files that are wrong, ports that are taken, folders of versions."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from .running import COMMAND, StandIn, a_stand_in, monitored, requests_in


def refused(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a stand-in that cannot start."""
    command = [*COMMAND, "--rest_api_port", "free", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_a_second_and_completes_the_log(tmp_path: Path, number: signal.Signals) -> None:
    log = tmp_path / "log.jsonl"
    with a_stand_in("--port", "free", "--log", str(log), "--latency", "constant:30s") as stand_in:
        waiting = threading.Thread(target=ask_in_vain, args=(stand_in,))
        waiting.start()
        while not stand_in.counts()["in_flight"]:
            time.sleep(0.01)
        code, seconds = stand_in.stop(number)
        waiting.join(5)
    assert code == 0
    assert seconds < 1.0
    (line,) = requests_in(log)
    assert (line["answer"], line["code"], line["delivered"]) == (None, "", False)


def ask_in_vain(stand_in: StandIn) -> None:
    with pytest.raises(OSError):  # noqa: PT011 - reset or closed, as the system likes
        stand_in.predict()


def test_a_file_the_real_server_refuses_is_fatal(tmp_path: Path) -> None:
    path = tmp_path / "file.config"
    path.write_text("prometheus { enable: true }")
    code, output = refused("--enable_batching", "--monitoring_config_file", str(path))
    assert code == 255
    assert output.startswith(f"Failed to start server. Error: INVALID_ARGUMENT: Invalid protobuf file: '{path}'")
    assert "stand-in" in output


def test_another_metric_path_is_taken_and_monitoring_can_be_off(tmp_path: Path) -> None:
    path = tmp_path / "monitoring.config"
    path.write_text('prometheus_config { enable: true path: "/metrics" }')
    with a_stand_in("--monitoring_config_file", str(path)) as stand_in:
        assert stand_in.get("/metrics").status == 200
    path.write_text("prometheus_config { enable: false }")
    with a_stand_in("--monitoring_config_file", str(path)) as stand_in:
        assert stand_in.get("/metrics").status == 404


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, output = refused("--rest_api_port", str(port))
    assert code == 1
    assert f"could not listen on 127.0.0.1:{port} for REST" in output
    assert "choose another --rest_api_port" in output


def test_a_log_that_cannot_be_written_is_named() -> None:
    code, output = refused("--log", "/nonexistent/log")
    assert (code, output) == (
        1,
        "stand-in: could not write the log /nonexistent/log: No such file or directory; name another with --log\n",
    )


def test_a_full_disk_ends_it_because_its_log_would_lie() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    code, output = refused("--log", str(full))
    assert code == 1
    assert "could not write the log /dev/full: No space left on device; it is incomplete" in output


def test_a_folder_of_versions_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    for name in ("3", "12", "notes"):
        (folder / name).mkdir(parents=True)
    options = ("--model_base_path", str(folder), "--file_system_poll_wait_seconds", "0.05", *monitored(tmp_path))
    with a_stand_in(*options) as stand_in:
        states = stand_in.get("/v1/models/m").json()["model_version_status"]
        assert [(entry["version"], entry["state"]) for entry in states] == [("12", "AVAILABLE")]
        (folder / "20").mkdir()
        ends = time.monotonic() + 5
        while stand_in.get("/v1/models/m/versions/20").status != 200 and time.monotonic() < ends:
            time.sleep(0.02)
        states = stand_in.get("/v1/models/m").json()["model_version_status"]
        assert [(entry["version"], entry["state"]) for entry in states] == [("20", "AVAILABLE"), ("12", "END")]
        assert stand_in.ask("POST", "/v1/models/m/versions/12:predict", '{"instances": [1]}').status == 404
        path = f'{{model_path="{folder}/20",status="success"}}'
        assert stand_in.samples()[f":tensorflow:cc:saved_model:load_attempt_count{path}"] == 1


def test_an_empty_folder_keeps_the_ports_closed(tmp_path: Path) -> None:
    command = [*COMMAND, "--rest_api_port", "free", "--model_base_path", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "waiting for a sub-folder whose name is a number" in process.stderr.readline()
    process.terminate()
    output, _ = process.communicate(timeout=5)
    assert (process.returncode, output) == (0, "")


def test_everything_says_what_it_is() -> None:
    shown = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True).stdout
    assert "Stagelight TF Serving stand-in" in shown
    assert "example" in shown
