"""A neighbour who wants the core that the worker is on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.validity.case import Strike, Victim

MOST_SECONDS = 60
SPIN = f"import time\nend = time.monotonic() + {MOST_SECONDS}\nwhile time.monotonic() < end: pass"
BURSTS = f"""
import os, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
end = time.monotonic() + {MOST_SECONDS}
while time.monotonic() < end:
    busy = time.monotonic() + 0.06
    while time.monotonic() < busy: pass
    time.sleep(0.04)
"""


def pin(pid: int, core: int) -> None:
    """Keep every thread of a process on one core."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), {core})


@contextmanager
def programs(*codes: str, core: int | None = None) -> Iterator[None]:
    """Python programs that run until the end of the context, on one core if it is given."""
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL, start_new_session=True)
        for code in codes
    ]
    try:
        for process in running:
            if core is not None:
                pin(process.pid, core)
        yield
    finally:
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def on_the_workers_core(*codes: str) -> Strike:
    """The worker is kept on the last core, and so are these programs."""

    @contextmanager
    def strike(victim: Victim) -> Iterator[None]:
        core = max(os.sched_getaffinity(0))
        for pid in victim.workers():
            pin(pid, core)
        with programs(*codes, core=core):
            yield

    return strike


core_hogs = on_the_workers_core(SPIN, SPIN)
real_time = on_the_workers_core(BURSTS)
