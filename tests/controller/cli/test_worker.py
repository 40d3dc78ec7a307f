"""`stagelight worker` says what is wrong before it waits for anybody."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest


def said(*words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "controller", "worker", *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("master", ["10.0.0.5", "10.0.0.5:", ":5557", "10.0.0.5:70000", "http://10.0.0.5:5557"])
def test_an_address_without_host_or_port_is_a_usage_error(tmp_path: Path, master: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x" * 32)
    code, text = said("--master", master, "--secret-file", str(secret))
    assert code == 2
    assert f"could not use {master} as the master's address" in text


def test_a_heartbeat_that_cannot_be_is_said_at_once(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x" * 32)
    beat = ("--heartbeat", str(tmp_path / "none/beat"))
    code, text = said("--master", "127.0.0.1:1", "--secret-file", str(secret), *beat)
    assert code == 2
    assert f"could not touch {tmp_path}/none/beat: No such file or directory" in text


def test_a_worker_without_a_master_beats_and_starts_nothing(tmp_path: Path) -> None:
    secret, beat = tmp_path / "secret", tmp_path / "beat"
    secret.write_text("x" * 32)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        words = ["--master", f"127.0.0.1:{held.getsockname()[1]}", "--secret-file", str(secret)]
        process = subprocess.Popen(
            [sys.executable, "-m", "controller", "worker", *words, "--heartbeat", str(beat)], stderr=subprocess.PIPE
        )
        try:
            stamps: set[int] = set()
            deadline = time.monotonic() + 30
            while len(stamps) < 3 and time.monotonic() < deadline:
                time.sleep(0.2)
                stamps |= {beat.stat().st_mtime_ns} if beat.exists() else set()
            assert len(stamps) == 3
            assert Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text() == ""
        finally:
            process.terminate()
            process.communicate(timeout=20)
    assert process.returncode == 130


def test_a_missing_secret_is_a_usage_error(tmp_path: Path) -> None:
    code, text = said("--master", "127.0.0.1:5557", "--secret-file", str(tmp_path / "none"))
    assert code == 2
    assert "could not read the secret of the workers in" in text


def test_a_secret_that_could_be_guessed_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("short\n")
    code, text = said("--master", "127.0.0.1:5557", "--secret-file", str(secret))
    assert code == 2
    assert "it has less than 16 bytes; make one with `openssl rand -hex 32`" in text
