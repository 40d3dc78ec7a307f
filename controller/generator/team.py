"""The worker processes of this master: started together, watched, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import gevent


class Team:
    """Subprocesses by worker name; after `import locust` gevent's `subprocess` lets other greenlets run."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, spec: Path, workers: int, host: str, port: int, on_end: Callable[[str, str], None]) -> None:
        """Start all workers; `on_end` gets name and way of ending of each one that ends."""
        for part in range(workers):
            command = [sys.executable, "-m", "controller.generator", "--role", "worker", "--spec", str(spec)]
            command += ["--part", str(part), "--host", host, "--port", str(port), "--parent", str(os.getpid())]
            name = f"worker-{part}"
            self._processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL)
            gevent.spawn(self._watch, name, on_end)

    def owns(self, name: str, pid: int) -> bool:
        """Whether that worker is the process that was started under the name."""
        return name in self._processes and self._processes[name].pid == pid

    def kill(self, name: str) -> None:
        """End one worker by force, if it is on this host."""
        process = self._processes.get(name)
        if process is not None and process.poll() is None:
            process.kill()

    def end(self, timeout: float) -> None:
        """Wait for all to end by themselves for `timeout` seconds, then end them by force."""
        with gevent.Timeout(timeout, False):
            for process in self._processes.values():
                process.wait()
        for name in self._processes:
            self.kill(name)

    def _watch(self, name: str, on_end: Callable[[str, str], None]) -> None:
        code = self._processes[name].wait()
        how = f"ended with exit code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"
        on_end(name, how)
