"""A Prometheus that stands still in the middle of a run: nobody sees the run's series of that time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.edges.local_stack import LocalStack
from tests.end_to_end.stage import ROOT, free_port_table
from tests.validity.case import Launch, Place, Victim


@contextmanager
def with_prometheus(place: Place) -> Iterator[Launch]:
    """A whole local stack, whose Prometheus the run is told of."""
    before = Path.cwd()
    os.chdir(ROOT)
    stack = LocalStack(place.folder / "stack", free_port_table())
    try:
        stack.start()
        settings = {
            "STAGELIGHT_DISCOVERY": str(stack.discovery),
            "STAGELIGHT_PROMETHEUS_URL": stack.prometheus_url,
            "STAGELIGHT_LISTEN": f"127.0.0.1:{stack.ports['stagelight']}",
        }
        yield Launch((), settings)
    finally:
        stack.stop()
        os.chdir(before)


@contextmanager
def no_scrapes(victim: Victim) -> Iterator[None]:
    """It is stopped, not ended: it comes back with a hole in its data."""
    (pid,) = _with_argument(f"--storage.tsdb.path={victim.place.folder / 'stack' / 'tsdb'}")
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _with_argument(argument: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if argument.encode() in words:
                found.append(int(folder.name))
    return found
