"""What each contender does to the server in a few seconds on one core: requests, wall time, CPU time."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from controller.generator_spec import GeneratorSpec
from controller.plans.plan import Payloads, Target, Workload
from tests.bench.engine.server import BODY, PATH, USERS
from tests.controller.generator.drive import Drive

TICKS = os.sysconf("SC_CLK_TCK")
REPORTED = 0.3
"""Seconds after a second's change by which its report has arrived."""

LUA = """wrk.method = "POST"
wrk.body = '{body}'
wrk.headers["Content-Type"] = "application/json"
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """Requests that were answered well, in `wall` seconds, for `cpu` seconds of the generator's processor time."""

    requests: int
    wall: float
    cpu: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.wall

    @property
    def cost(self) -> float:
        """Microseconds of processor time a request."""
        return self.cpu / self.requests * 1e6


def wrk(program: str, url: str, core: int, seconds: float, folder: Path) -> Measured:
    """Compiled, one thread."""
    script = folder / "wrk.lua"
    script.write_text(LUA.format(body=BODY))
    command = [program, "-t1", f"-c{USERS}", f"-d{round(seconds)}s", "-s", str(script), url + PATH]
    output, cpu = _run(command, core)
    found = re.search(r"(\d+) requests in ([\d.]+)s", output)
    if found is None or "Non-2xx" in output or "Socket errors" in output:
        raise RuntimeError(f"wrk did not get clean answers:\n{output}")
    return Measured(int(found[1]), float(found[2]), cpu)


def hey(program: str, url: str, core: int, seconds: float) -> Measured:
    """Compiled, with a garbage collector."""
    command = [program, "-z", f"{round(seconds)}s", "-c", str(USERS), "-cpus", "1", "-m", "POST"]
    output, cpu = _run([*command, "-T", "application/json", "-d", BODY, url + PATH], core)
    good, wall = re.search(r"\[200\]\s+(\d+) responses", output), re.search(r"Total:\s+([\d.]+) secs", output)
    if good is None or wall is None:
        raise RuntimeError(f"hey did not get clean answers:\n{output}")
    return Measured(int(good[1]), float(wall[1]), cpu)


def stock(kind: str, url: str, core: int, seconds: float) -> Measured:
    """Locust as it comes, one of its two HTTP clients."""
    command = [sys.executable, "-m", "tests.bench.engine.stock", kind, url, str(seconds)]
    told = json.loads(_run(command, core)[0].splitlines()[-1])
    if told["failed"]:
        raise RuntimeError(f"{told['failed']} requests of stock Locust failed")
    return Measured(told["requests"], told["wall"], told["cpu"])


@contextmanager
def our_generator(url: str, core: int, log: Path, master_core: int | None = None) -> Iterator[Drive]:
    """Master and one worker as a run has them, everything recorded, on one core, unless the master has its own."""
    payloads = Payloads(random_shape=(4,), count=1000)
    workload = Workload(payloads, timeout=timedelta(seconds=3))
    spec = GeneratorSpec("bench", "bench", Target("tfserving", url, model="my_model"), workload, 1)
    with Drive(spec, log) as drive:
        pin(drive.hello.pid, core if master_core is None else master_core)
        for pid in drive.pids():
            pin(pid, core)
        yield drive


def pin(pid: int, core: int) -> None:
    """Let all threads of a process run on one core."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def lean(drive: Drive, seconds: float) -> tuple[Measured, Measured]:
    """Our client: what worker and master together need, and what the worker needs alone."""
    drive.order(USERS)
    drive.run(0.7)
    to_beat(drive)
    pids = (drive.hello.pid, *drive.pids())
    began, before, ended = time.perf_counter(), [cpu_seconds(pid) for pid in pids], _ended(drive)
    drive.run(seconds - 0.5)
    to_beat(drive)
    wall, after = time.perf_counter() - began, [cpu_seconds(pid) for pid in pids]
    requests = _ended(drive) - ended
    drive.order(0)
    used = [end - start for start, end in zip(before, after, strict=True)]
    return Measured(requests, wall, sum(used)), Measured(requests, wall, sum(used[1:]))


def to_beat(drive: Drive) -> None:
    """Until a while after a second changed: workers report then, and what they report is as old at both ends."""
    drive.run((1.0 + REPORTED - time.time() % 1.0) % 1.0)


def _ended(drive: Drive) -> int:
    """Good requests up to the last report."""
    metrics = drive.metrics()
    return int(metrics['loadgen_requests_total{outcome="ok"}'])


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _run(command: list[str], core: int) -> tuple[str, float]:
    """Output and processor time of a program on one core."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        ["taskset", "-c", str(core), *command], capture_output=True, text=True, timeout=60, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with exit code {ended.returncode}: {ended.stderr[-500:]}")
    return ended.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
