"""The program of one case while it runs: who its processes are, how far its run is, and its certain end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from controller.edges.leftovers import end_leftovers, processes_of
from tests.end_to_end.stage import ROOT
from tests.validity.case import Launch, Place

LOOK_SECONDS = 0.05


@dataclass(slots=True)
class Program:
    """`stagelight run` of one plan; its archive is in the place's folder."""

    place: Place
    process: subprocess.Popen[bytes]

    @property
    def folder(self) -> Path | None:
        """The run's folder, once there is one."""
        return next((path.parent for path in (self.place.folder / "runs").glob("*/journal.jsonl")), None)

    def master(self) -> int:
        """Process number of the generator's master."""
        return next(pid for pid in self._generator() if b"--role" not in _words(pid))

    def workers(self) -> list[int]:
        """Process numbers of the workers, the first one first."""
        found = [
            (words[words.index(b"--part") + 1], pid) for pid in self._generator() if b"--part" in (words := _words(pid))
        ]
        return [pid for _, pid in sorted(found)]

    def metrics(self) -> str | None:
        """Where the master serves its metrics, once it does: it listens to its workers besides."""
        if not any(entry.get("action") == "Give" for entry in self.journal()):  # before, it may not serve them yet
            return None
        with suppress(psutil.Error, StopIteration):
            master = psutil.Process(self.master())
            told = [words for pid in self._generator() if b"--port" in (words := _words(pid))]
            to_workers = {words[words.index(b"--port") + 1] for words in told}
            for one in master.net_connections("tcp4"):
                host, port = one.laddr if one.status == psutil.CONN_LISTEN else ("", 0)
                if host == "127.0.0.1" and str(port).encode() not in to_workers:
                    return f"{host}:{port}"
        return None

    def reached(self, action: str, patience: float) -> bool:
        """Wait until the journal has that action; False where the program ended before, or time is up."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if any(entry.get("action") == action for entry in self.journal()):
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(LOOK_SECONDS)
        return False

    def journal(self) -> list[dict[str, Any]]:
        """Its whole lines so far."""
        if self.folder is None:
            return []
        lines = (self.folder / "journal.jsonl").read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(seconds, 0.0))
        return self.process.poll() is not None

    def _generator(self) -> list[int]:
        return [] if self.folder is None else sorted(processes_of(self.folder.name))


def _words(pid: int) -> list[bytes]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


@contextmanager
def started(place: Place, plan: Path, launch: Launch, settings: Mapping[str, str]) -> Iterator[Program]:
    """Nothing of it is left afterwards, whatever happened to it."""
    command = [*launch.prefix, sys.executable, "-m", "controller", "run", str(plan), "--quiet"]
    with (place.folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **settings, **launch.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    program = Program(place, process)
    try:
        yield program
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if program.folder is not None:
            end_leftovers(program.folder.name)
