"""Processes of interest: what a rule finds, numbers that are used again, what is denied, and who took the CPU."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from exporters.host.processes import ProcessWatcher, families
from exporters.host.rules import Rule, parse, search
from tests.exporters.trees import samples, write

HZ = os.sysconf("SC_CLK_TCK")
FIXTURE = Path(__file__).with_name("fixtures") / "proc"


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("m=name:tensorflow_model_server", (300,)),
        ("m=name:model .server", (300,)),
        ("m=name:tensorflow", ()),
        ("m=command:--port=85..", (300,)),
        ("m=cgroup:/docker", (300,)),
        ("m=cgroup:/docker/abc/", (300,)),
        ("m=cgroup:/dock", ()),
    ],
)
def test_a_rule_finds_what_it_says(rule: str, found: tuple[int, ...]) -> None:
    assert search(FIXTURE, (parse(rule),), own=1).found == {"m": found}


def test_a_real_process_is_found_by_its_port_and_not_by_the_rule_s_own_text() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        rules = (Rule("server", "port", str(port)), Rule("me", "command", "no-such-text-anywhere-else"))
        assert search(Path("/proc"), rules, own=0).found["server"] == (os.getpid(),)
        assert search(Path("/proc"), rules, own=os.getpid()).found == {"server": (), "me": ()}


@pytest.mark.parametrize(
    "text",
    ["model", "model=", "model=pid:3", "model=port:0", "model=port:http", "model=name:(", "=name:x", "a b=name:x"],
)
def test_a_rule_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"model|name|a b"):
        parse(text)


def test_counters_go_on_when_a_process_is_replaced_and_numbers_are_used_again(tmp_path: Path) -> None:
    now = 100.0
    watcher = ProcessWatcher(_machine(tmp_path, busy=100.0), (parse("w=name:locust-worker"),), lambda: now)
    _process(tmp_path, 300, "locust-worker", start=1000, cpu=50.0)
    assert _cpu(watcher) == 50.0
    now = 130.0
    _process(tmp_path, 300, "backup", start=12900, cpu=1.0)  # the same number, somebody else
    _process(tmp_path, 120, "locust-worker", start=12800, cpu=4.0)
    _machine(tmp_path, busy=110.0)
    assert _cpu(watcher) == 54.0
    _process(tmp_path, 120, "locust-worker", start=12800, cpu=6.0)
    assert _cpu(watcher) == 56.0


def test_what_begins_to_fit_long_after_its_start_counts_from_then_on(tmp_path: Path) -> None:
    now = 1000.0
    watcher = ProcessWatcher(_machine(tmp_path, busy=0.0), (parse("w=cgroup:/a"),), lambda: now)
    _process(tmp_path, 7, "x", start=100, cpu=5000.0, cgroup="/b")
    assert _cpu(watcher) == 0.0
    _process(tmp_path, 7, "x", start=100, cpu=5001.0, cgroup="/a")
    for now in (1006.0, 1012.0):  # noqa: B007 - the watcher's clock reads it
        shown = _cpu(watcher)
    assert shown == 0.0
    _process(tmp_path, 7, "x", start=100, cpu=5003.0, cgroup="/a")
    assert _cpu(watcher) == 2.0


def test_what_everything_else_took_never_steps_back_and_is_exact_in_the_long_run(tmp_path: Path) -> None:
    now = 0.0
    watcher = ProcessWatcher(_machine(tmp_path, busy=0.0), (parse("w=name:w"),), lambda: now)
    _process(tmp_path, 5, "w", start=0, cpu=0.0)
    taken = []
    for second in range(20):
        now = float(second)
        jitter = 0.01 if second % 2 else -0.01
        _machine(tmp_path, busy=0.5 * second, steal=0.25 * second)
        _process(tmp_path, 5, "w", start=0, cpu=max(0.0, 0.3 * second + jitter))
        reading = watcher.read()
        taken.append(reading.taken_by_others)
        assert reading.stolen == pytest.approx(0.25 * second)
    assert taken == sorted(taken)
    assert taken[-1] == pytest.approx(0.2 * 19, abs=0.05)


def test_what_is_denied_is_absent_and_counted(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to become another user")
    program = """
import os
from pathlib import Path
from exporters.host.processes import ProcessWatcher, families
from exporters.host.rules import parse
os.setgroups([]); os.setgid(65534); os.setuid(65534)
reading = ProcessWatcher(Path("/proc"), (parse("init=cgroup:/"),)).read()
shown = {f.metric.name: dict(f.samples) for f in families(reading)}
assert shown["host_process_read_failures_total"]["init", "descriptors", "permission"] >= 1
assert ("init",) not in shown["host_process_file_descriptors"]
assert shown["host_process_resident_memory_bytes"]["init",] > 0
print("ok")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30)
    assert (done.stdout.strip(), done.returncode) == ("ok", 0), done.stderr


def test_the_fixture_s_process_in_base_units() -> None:
    reading = ProcessWatcher(FIXTURE, (parse("m=name:tensorflow_model_server"),), lambda: 100.0).read()
    shown = samples(families(reading))
    assert shown["host_process_cpu_seconds_total", "m", "user"] == 1250 / HZ
    assert shown["host_process_threads", "m"] == 7
    assert shown["host_process_file_descriptors", "m"] == 2
    assert shown["host_process_context_switches_total", "m", "voluntary"] == 42
    assert shown["host_process_start_time_seconds", "m"] == 1796063689 + 1000 / HZ


def _machine(root: Path, busy: float, steal: float = 0.0) -> Path:
    return write(root, {"stat": f"cpu {round(busy * HZ)} 0 0 0 0 0 0 {round(steal * HZ)}\nbtime 1000\n"})


def _process(root: Path, pid: int, name: str, *, start: int, cpu: float, cgroup: str = "/") -> None:
    numbers = f"S 1 1 1 0 -1 0 0 0 0 0 {round(cpu * HZ)} 0 0 0 20 0 1 0 {start} 0 10"
    folder = {"stat": f"{pid} ({name}) {numbers}\n", "comm": f"{name}\n", "cmdline": "", "cgroup": f"0::{cgroup}\n"}
    write(root / str(pid), folder | {"fd/0": "", f"task/{pid}/status": "voluntary_ctxt_switches:\t1\n"})


def _cpu(watcher: ProcessWatcher) -> float:
    (group,) = watcher.read().groups.values()
    return group.user + group.system
