"""`stagelight demo`: one box, one command: a target, exporters, Prometheus, a run, a verdict; then nothing is left."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import controller
from controller.cli.arguments import verb
from controller.cli.run import perform, recover, say
from controller.edges.local_stack import LOOPBACK, PORTS, LocalStack
from controller.exit_codes import ExitCode
from controller.plans.loader import load_plan
from controller.ports import EdgeError
from controller.running.loop import StopRequest
from controller.settings import Settings
from controller.wiring import open_world

ROOT = Path(controller.__file__).resolve().parents[1]
PLAN = Path("compose/plans/demo.yaml")
FOLDER = Path("build/demo")
FREE_BYTES = 500 * 1000 * 1000


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(subparsers, "demo", "show everything on one box, on loopback only", "stagelight demo --keep")
    parser.add_argument("--keep", action="store_true", help="leave everything up until Ctrl-C, and print the URLs")
    parser.add_argument("--plan", type=Path, default=PLAN, metavar="PLAN", help=f"run this plan (default: {PLAN})")
    names = ", ".join(f"{name}={port}" for name, port in PORTS.items())
    parser.add_argument(
        "--port", action="append", default=[], metavar="NAME=NUMBER", help=f"another port than: {names}"
    )
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, metavar="DIR", help=f"for data and logs (default: {FOLDER})"
    )
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="DIR", help="where runs are archived")


def run(args: argparse.Namespace) -> ExitCode:
    """Exit with the code of the run's end."""
    folder, runs, plan = (path.resolve() for path in (args.folder, args.runs, args.plan))
    os.chdir(ROOT)
    stack = LocalStack(folder, parse_ports(args.port))
    _check_disk()
    stack.claim_ports()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # outside of a run both signals mean the same
    try:
        _tell(f"starting a stand-in for TensorFlow Serving, the exporters and Prometheus; logs are in {args.folder}")
        stack.start()
        return _run(stack, runs, plan, keep=args.keep)
    except KeyboardInterrupt:
        _tell("interrupted")
        return ExitCode.INTERRUPTED
    finally:
        stack.stop()
        _tell("everything is stopped")


def _run(stack: LocalStack, runs: Path, path: Path, *, keep: bool) -> ExitCode:
    plan = load_plan(stack.plan(path))
    settings = Settings(
        runs=runs,
        discovery=stack.discovery,
        listen=(LOOPBACK, stack.ports["stagelight"]),
        prometheus_url=stack.prometheus_url,
        grafana_url=stack.grafana_url,
    )
    with open_world(settings) as world:
        recover(world)
        stop = StopRequest()
        finished = perform(world, plan, stop)
        say(finished)
        if keep and not stop.take():
            _wait(stack)
    return finished.record.exit_code


def _wait(stack: LocalStack) -> None:
    """Leave everything up until SIGINT or SIGTERM."""
    for name, url in stack.urls().items():
        print(f"{name:<20} {url}")
    print("everything stays up until Ctrl-C", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(1.0)  # not `signal.pause`: another thread may be the one that the signal interrupts


def parse_ports(given: Sequence[str]) -> dict[str, int]:
    """The default ports with those given in their place. Raises `EdgeError` for one that cannot be."""
    ports = dict(PORTS)
    for text in given:
        name, _, number = text.partition("=")
        if name not in PORTS or not number.isdecimal() or not 1 <= int(number) <= 65535:
            raise EdgeError(f"could not use --port {text}: write NAME=NUMBER with a name out of {', '.join(PORTS)}")
        ports[name] = int(number)
    return ports


def _check_disk() -> None:
    free = shutil.disk_usage(ROOT).free
    if free < FREE_BYTES:
        raise EdgeError(
            f"could not start the demo: {free / 1e6:,.0f} MB are free at {ROOT}, it needs {FREE_BYTES / 1e6:,.0f} MB; "
            "free some disk"
        )


def _tell(what: str) -> None:
    sys.stderr.write(f"demo: {what}\n")
    sys.stderr.flush()
