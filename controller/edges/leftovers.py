"""Generator processes that outlived their controller: found by the run id in their environment, and ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

RUN_ID_VARIABLE = "STAGELIGHT_RUN_ID"
"""Set in the environment of every generator process; a process number could be another process by now, this cannot."""


def processes_of(run_id: str, proc: Path = Path("/proc")) -> list[int]:
    """Process numbers of a run's generator, zombies left out."""
    wanted = f"{RUN_ID_VARIABLE}={run_id}".encode()
    found = []
    for folder in proc.iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


def end_leftovers(run_id: str, patience: float = 5.0) -> int:
    """SIGKILL every process of the run's generator, wait until none is left; returns how many there were."""
    pids = processes_of(run_id)
    deadline = time.monotonic() + patience
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while processes_of(run_id) and time.monotonic() < deadline:
        time.sleep(0.05)
    return len(pids)
