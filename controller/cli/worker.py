"""`stagelight worker --master HOST:PORT --secret-file FILE`: lend this machine to runs that another one conducts."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import controller
from controller.cli.arguments import add_settings, verb
from controller.edges.worker_secret import read_secret
from controller.exit_codes import ExitCode
from controller.ports import EdgeError
from controller.settings import load_settings

PAUSE_SECONDS = 1.0
"""Between two looks whether there is a master, and after the end of a worker process."""

KNOCK_SECONDS = 1.0
"""How long a look may take."""

END_SECONDS = 3.0
"""How long the process may take to end after SIGTERM."""


def add(subparsers: Any) -> None:
    """Register the verb."""
    example = "stagelight worker --master 10.0.0.5:5557 --secret-file /etc/stagelight/worker.secret"
    parser = verb(subparsers, "worker", "be a worker for runs that another machine conducts", example)
    parser.add_argument("--master", required=True, metavar="HOST:PORT", help="its STAGELIGHT_GENERATOR_BIND")
    parser.add_argument("--secret-file", required=True, type=Path, metavar="FILE", help="the same secret as there")
    parser.add_argument("--heartbeat", type=Path, metavar="FILE", help="touched every second or two, for health checks")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="end after so many runs (0: never)")
    add_settings(parser)


def run(args: argparse.Namespace) -> ExitCode:
    """Serve runs until told to stop. Which targets may be loaded from here, this machine's settings say."""
    host, port = _address(args.master)
    try:
        read_secret(args.secret_file)
    except ValueError as error:
        raise EdgeError(str(error)) from error
    allow = load_settings(args.settings).allow_targets
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    command = [sys.executable, "-m", "controller.generator", "--role", "remote", "--host", host, "--port", str(port)]
    command += ["--secret-file", str(args.secret_file), "--parent", str(os.getpid())]
    command += [word for target in allow for word in ("--allow", target)]
    served = 0
    sys.stderr.write(f"a worker for {host}:{port}; Ctrl-C ends it\n")
    while True:
        _await_master(host, port, args.heartbeat)
        code = _serve(command, args.heartbeat)
        served += code == 0
        if args.runs and served >= args.runs:
            return ExitCode.PASS
        time.sleep(PAUSE_SECONDS)


def _await_master(host: str, port: int, heartbeat: Path | None) -> None:
    """Until somebody listens there: a worker process that only waits would hold its memory for nothing."""
    while True:
        _beat(heartbeat)
        try:
            socket.create_connection((host, port), KNOCK_SECONDS).close()
        except OSError:
            time.sleep(PAUSE_SECONDS)
        else:
            return


def _beat(heartbeat: Path | None) -> None:
    if heartbeat is not None:
        try:
            heartbeat.touch()
        except OSError as error:
            raise EdgeError(f"could not touch {heartbeat}: {error.strerror}; choose another --heartbeat") from error


def _serve(command: list[str], heartbeat: Path | None) -> int:
    """One worker process from start to end; its exit code."""
    root = str(Path(controller.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path})
    try:
        while True:
            _beat(heartbeat)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(PAUSE_SECONDS)
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        if parts.hostname and parts.port and not parts.path:
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise EdgeError(f"could not use {text} as the master's address: write it like 10.0.0.5:5557")


def _stop(_number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt
