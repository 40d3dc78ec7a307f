"""Measures what the generator's signals cost the process that sends: CPU time a second, idle and beside open files.

`python -m tests.bench.bench_signals` prints a table and writes `build/figures/signals.json`; it takes half a minute.
Processor time is counted, which a busy machine leaves nearly alone; the medians of three processes each.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median

from tests.bench.figures import Figure, write

FIGURES = Path("build/figures/signals.json")
GOAL = 0.01
SECONDS = 4.0
ROUNDS = 3
FILES = 10_000

_PROCESS = """
import os, resource, sys, time
import gevent
from controller.generator.pulse import begin
from exporters.loadgen import Load
from exporters.loadgen_limits import in_force

seconds, files, probing = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "pulse"
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
files = files if hard == resource.RLIM_INFINITY else min(files, hard - 100)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(files + 100, 1024), hard))
kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(files)]
late = {us: 5 for us in range(100, 1100, 5)}  # of an open loop at 1,000/s
pulse = begin(in_force()) if probing else None
gevent.sleep(0.5)
began, spent = time.perf_counter(), time.process_time()
while time.perf_counter() - began < seconds:
    gevent.sleep(1.0)
    if pulse is not None:
        pulse.take(Load(late, due=1000, requests=1000))
print((time.process_time() - spent) / (time.perf_counter() - began))
"""


def main() -> int:
    """Measure; goals that are not reached are shown, they do not fail."""
    nothing = _median("nothing", 0)
    idle, crowded = _median("pulse", 0) - nothing, _median("pulse", FILES) - nothing
    figures = [
        Figure("signals of a process: share of a core", idle, "", "<= 0.01", idle <= GOAL, ROUNDS, "processor time"),
        Figure(
            f"the same beside {FILES:,} open files",
            crowded,
            "",
            "<= 0.01",
            crowded <= GOAL,
            ROUNDS,
            "processor time; the kernel counts open files since 6.2",
        ),
    ]
    write(figures, FIGURES)
    return 0


def _median(kind: str, files: int) -> float:
    return median(_share(kind, files) for _ in range(ROUNDS))


def _share(kind: str, files: int) -> float:
    command = [sys.executable, "-c", _PROCESS, str(SECONDS), str(files), kind]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


if __name__ == "__main__":
    sys.exit(main())
