from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from controller.edges.generator_process import GeneratorProcess
from controller.orders import Fault, Lease
from controller.ports import EdgeError
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.target import Target


def test_the_controller_process_never_loads_locust_or_gevent() -> None:
    code = (
        "import sys, controller.edges.generator_process as edge\n"
        "edge.GeneratorProcess\n"
        "print([name for name in ('locust', 'gevent', 'geventhttpclient', 'zmq', 'greenlet') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_generator_that_does_not_come_up_is_told_with_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such module >&2\nexit 3\n")
    broken.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(broken))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    process = GeneratorProcess(tmp_path / "locust.log")
    with pytest.raises(EdgeError, match=r"(?s)could not start the generator.*exit code 3.*no such module"):
        process.start(a_spec("http://127.0.0.1:1"))
    assert not process.alive()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["locust.log", "python"]


def test_nothing_can_be_sent_before_the_start_and_killing_nothing_is_safe(tmp_path: Path) -> None:
    process = GeneratorProcess(tmp_path / "locust.log")
    with pytest.raises(EdgeError, match="does not run"):
        process.send(Lease(time.time()))
    process.kill()
    assert process.reports() == []
    assert not process.alive()


@pytest.mark.slow
def test_the_end_of_the_master_is_reported_and_everything_can_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)  # too long for a socket's path
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with Drive(a_spec(Target().url), tmp_path / "locust.log") as drive:
        with pytest.raises(EdgeError, match="started before"):
            drive.process.start(drive.spec)
        assert all(os.getpgid(pid) == os.getsid(pid) == drive.hello.pid for pid in (drive.hello.pid, *drive.pids()))
        os.kill(drive.hello.pid, signal.SIGKILL)
        drive.leasing = False
        fault = drive.wait(Fault, 5.0)
        assert fault.fatal
        assert "ended with exit code -9" in fault.what
        drive.run(0.5)
        assert not drive.process.alive()
        with pytest.raises(EdgeError, match="could not send lease"):
            drive.process.send(Lease(time.time()))
    drive.process.kill()


@pytest.mark.slow
def test_a_group_with_a_frozen_master_is_ended_by_force(tmp_path: Path) -> None:
    with Drive(a_spec(Target().url), tmp_path / "locust.log") as drive:
        pids = drive.pids()
        os.kill(drive.hello.pid, signal.SIGSTOP)
        began = time.monotonic()
        drive.process.kill()
        assert time.monotonic() - began < 10.0
        assert not drive.process.alive()
        commands = (Path(f"/proc/{pid}/cmdline") for pid in pids)
        assert not any(command.exists() and command.read_bytes() for command in commands)
