"""Measures the TF Serving stand-in: predicts per second on one core, and how exactly it keeps a service time.

`python -m tests.bench.bench_standin` prints a table and writes `build/figures/standin.json`; it takes about 25 seconds.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.figures import Figure, write
from tests.compose.targets.tfserving_standin.running import BODY, PREDICT, StandIn, a_stand_in, requests_in

FIGURES = Path("build/figures/standin.json")
CONNECTIONS = 20
RUNS = 3
SECONDS = 2
RATE_GOAL = 3000.0
LATE_GOAL_MS = 0.3
LATENCY_MS = 10
SCRIPT = """
wrk.method = "POST"
wrk.body = '{body}'
wrk.headers["Content-Type"] = "application/json"
"""


def main() -> int:
    """Measure everything; 1 if a tool is missing. Goals that are not reached are shown, they do not fail."""
    wrk = shutil.which("wrk")
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if wrk is None or len(cores) < 2:
        sys.stderr.write("could not measure the stand-in: it needs wrk (Debian's package `wrk`) and two processors\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "predict.lua"
        script.write_text(SCRIPT.format(body=BODY))
        log = Path(folder) / "log.jsonl"
        figures = [
            *_throughput("predicts, batching off", wrk, script, cores, ("--log", str(log))),
            *_throughput("predicts, batching on", wrk, script, cores, ("--log", str(log), "--enable_batching")),
            *_lateness(wrk, script, cores, log),
        ]
    write(figures, FIGURES)
    return 0


def _throughput(name: str, wrk: str, script: Path, cores: list[int], options: tuple[str, ...]) -> Iterator[Figure]:
    rates, costs, shares = [], [], []
    with _pinned(cores[0], *options) as stand_in:
        _load(wrk, script, cores[1], stand_in, 1)
        for _ in range(RUNS):
            before = _cpu_seconds(stand_in)
            requests, rate = _load(wrk, script, cores[1], stand_in, SECONDS)
            rates.append(rate)
            used = _cpu_seconds(stand_in) - before
            costs.append(used / requests)
            shares.append(used / SECONDS)
    median = statistics.median(rates)
    spread = f"wrk, {CONNECTIONS} connections, 1 row of 16, log on; runs {', '.join(f'{rate:.0f}' for rate in rates)}"
    yield Figure(name, round(median, 1), "1/s", f">= {RATE_GOAL:.0f}", median >= RATE_GOAL, RUNS, spread)
    core_rate = 1 / statistics.median(costs)
    note = f"by the processor time it used; it had {statistics.median(shares):.0%} of its core"
    yield Figure(
        f"{name}, per core-second",
        round(core_rate, 1),
        "1/s",
        f">= {RATE_GOAL:.0f}",
        core_rate >= RATE_GOAL,
        RUNS,
        note,
    )


def _lateness(wrk: str, script: Path, cores: list[int], log: Path) -> Iterator[Figure]:
    with _pinned(cores[0], "--log", str(log), "--latency", f"constant:{LATENCY_MS}ms") as stand_in:
        _load(wrk, script, cores[1], stand_in, 3, connections=5)
        stand_in.counts()
        late = sorted((line["taken"] - line["asked"]) * 1e3 for line in requests_in(log) if line["asked"])
    note = f"answers of {LATENCY_MS} ms asked, about 500 a second, {len(late)} answers"
    for share in (0.5, 0.9, 0.99):
        value = late[int(share * len(late))]
        name = f"lateness of an answer, p{share * 100:g}"
        yield Figure(name, round(value, 3), "ms", f"<= {LATE_GOAL_MS}", value <= LATE_GOAL_MS, 1, note)


@contextmanager
def _pinned(core: int, *options: str) -> Iterator[StandIn]:
    with a_stand_in(*options) as stand_in:
        os.sched_setaffinity(stand_in.process.pid, {core})
        yield stand_in


def _load(
    wrk: str, script: Path, core: int, stand_in: StandIn, seconds: int, connections: int = CONNECTIONS
) -> tuple[int, float]:
    """Requests answered and their rate, by wrk's own count; every one of them must be a 200."""
    command = ["taskset", "-c", str(core), wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script)]
    address = f"http://{stand_in.host}:{stand_in.port}{PREDICT}"
    output = subprocess.run([*command, address], capture_output=True, text=True, check=True, timeout=30).stdout
    requests, rate = re.search(r"(\d+) requests in", output), re.search(r"Requests/sec:\s+([\d.]+)", output)
    if requests is None or rate is None or "Non-2xx" in output or "Socket errors" in output:
        raise RuntimeError(f"wrk did not get clean answers:\n{output}")
    return int(requests[1]), float(rate[1])


def _cpu_seconds(stand_in: StandIn) -> float:
    fields = Path(f"/proc/{stand_in.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    sys.stdout.write(f"took {time.monotonic() - began:.1f} s\n")
    raise SystemExit(code)
