"""`stagelight worker` says what is wrong before it waits for anybody."""

from __future__ import annotations

import subprocess
import sys
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
