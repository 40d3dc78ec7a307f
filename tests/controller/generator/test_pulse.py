"""Real processes with a pulse, each held up in one way: the signal that is the truth about it must be at its limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from exporters.loadgen_limits import MASTER_PATIENCE, in_force, of_master

pytestmark = pytest.mark.slow

SECONDS = 4

_PROCESS = """
import gevent.monkey; gevent.monkey.patch_all()
import gc, json, os, resource, sys, time
import gevent
from controller.generator.pulse import begin
from exporters.loadgen_lookups import Resolver
from exporters.loadgen_limits import in_force

def storm():
    kept = [[[]] for _ in range(200_000)]
    while True:
        gc.collect()
        gevent.sleep(0.1)

def block():
    while True:
        until = time.perf_counter() + 0.06
        while time.perf_counter() < until:
            pass
        gevent.sleep(0.2)

def hog():
    def compute():
        while True:
            sum(range(100_000))
    gevent.monkey.get_original("_thread", "start_new_thread")(compute, ())

def descriptors():
    used = os.stat("/proc/self/fd").st_size or len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used, used))

def step():
    true = time.time
    gevent.sleep(1.5)
    time.time = lambda: true() + 2.0

pulse = begin(in_force())
if sys.argv[1] != "nothing":
    pulse.take()
    gevent.spawn(globals()[sys.argv[1]])
print("begun", flush=True)
for _ in range(int(sys.argv[2])):
    gevent.sleep(1.0)
    vitals = pulse.take()
    print(json.dumps(vitals.saturation), flush=True)
os._exit(0)
"""


@contextmanager
def a_process(poison: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _PROCESS, poison, str(SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def worst(process: subprocess.Popen[str]) -> dict[str, float]:
    """Each signal's greatest distance to its limit, until the process has ended."""
    assert process.stdout is not None
    found: dict[str, float] = {}
    for line in process.stdout:
        if line.startswith("{"):
            for name, value in json.loads(line).items():
                found[name] = max(found.get(name, 0.0), value)
    return found


RIGHT = {
    "storm": ("gc",),
    "block": ("loop_lag",),
    "descriptors": ("descriptors",),
    "step": ("clock",),
    "hog": ("cpu", "loop_lag", "run_queue"),
    "nothing": ("loop_lag",),  # it is stopped from outside
}
TELLING = ("gc", "descriptors", "clock")
"""Signals that a busy machine does not raise by itself."""


def test_each_poison_raises_its_own_signal() -> None:
    with ExitStack() as stack:
        processes = {poison: stack.enter_context(a_process(poison)) for poison in RIGHT}
        _stand_still(processes["nothing"])
        found = {poison: worst(process) for poison, process in processes.items()}
    for poison, names in RIGHT.items():
        assert max(found[poison].get(name, 0.0) for name in names) >= 1, (poison, found[poison])
        others = [name for name in TELLING if name not in names and found[poison].get(name, 0.0) >= 1]
        assert not others, (poison, others)


def _stand_still(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.2)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(2.0)
    os.kill(process.pid, signal.SIGCONT)


def test_the_masters_loop_may_lag_more_because_it_sends_nothing() -> None:
    ours, master = in_force(), of_master(in_force())
    assert master["loop_lag"] == MASTER_PATIENCE * ours["loop_lag"]
    assert {name for name in ours if ours[name] != master[name]} == {"loop_lag"}
