"""What goes wrong at somebody's: crashes, full and foreign volumes, wrong secrets, taken ports: named, and healed."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.compose.engine.stack import Stack, servers, wait_for
from tests.compose.engine.test_use import MINE

ARCHIVE = "/var/lib/stagelight/runs"
ADMIN, TOKEN = "/var/lib/stagelight/admin/password", "/var/lib/stagelight/token/token"


@pytest.mark.parametrize("service", [name for name in servers() if name != "controller"])
def test_a_killed_container_comes_back(idle: Stack, service: str) -> None:
    before = idle.inspect(service)["State"]["StartedAt"]
    idle.kill(service)
    wait_for(lambda: idle.inspect(service)["State"]["StartedAt"] != before, 60, f"{service} is started again")
    wait_for(lambda: idle.inspect(service)["State"]["Health"]["Status"] == "healthy", 90, f"{service} is healthy again")


def test_one_killed_at_a_random_moment_of_a_run_leaves_a_closed_run_and_a_whole_composition(
    idle: Stack, figures: dict[str, Any]
) -> None:
    seed = int(os.environ.get("STAGELIGHT_COMPOSE_SEED") or time.time_ns())
    chance = random.Random(seed)  # noqa: S311 -- no secret
    service, moment = chance.choice(servers()), chance.uniform(0, 35)
    known = set(idle.runs())
    idle.compose("restart", "controller")
    run = wait_for(lambda: set(idle.runs()) - known, 90, "a new run").pop()
    time.sleep(moment)
    idle.kill(service)
    print(f"STAGELIGHT_COMPOSE_SEED={seed}: {service} killed after {moment:.1f} s")
    wait_for(lambda: all("(healthy)" in idle.states()[name] for name in servers()), 150, "every server is healthy")
    record = wait_for(lambda: idle.record(run), 180, f"the record of {run}")
    figures["random_kill"] = {"seed": seed, "service": service, "outcome": record["outcome"]}
    assert record["outcome"] == "completed" or record["because"], record


@pytest.mark.parametrize(
    ("volume", "more", "sentence"),
    [
        ("size=2m,uid=10001,gid=10001,mode=755", [], "2 MB are free at"),
        ("size=256k,uid=10001,gid=10001,mode=755", ["-e", "STAGELIGHT_MIN_FREE=1kB"], "0 MB are free"),
        ("size=2m,uid=0,gid=0,mode=755", ["-e", "STAGELIGHT_MIN_FREE=1kB"], "Permission denied"),
    ],
    ids=["less than is asked for", "less than the run writes", "of another user"],
)
def test_an_archive_that_cannot_be_written_is_one_sentence(
    idle: Stack, volume: str, more: list[str], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "x.yaml").write_text(MINE)
    tmp_path.chmod(0o755)
    options = ["type=tmpfs", "device=tmpfs", f"o={volume}"]
    idle.engine.docker("volume", "create", *(word for each in options for word in ("--opt", each)), "odd")
    try:
        mounts = ["--volume", f"odd:{ARCHIVE}", "--volume", f"{tmp_path}:/mine:ro"]
        words = ["controller", "run", "--quiet", "/mine/x.yaml"]
        done = idle.compose("run", "--rm", "--no-deps", *mounts, *more, *words, check=False)
    finally:
        idle.engine.docker("volume", "rm", "--force", "odd")
    assert done.returncode != 0
    said = " ".join((done.stderr + done.stdout).split())
    assert sentence in said, said
    assert "Traceback" not in done.stderr + done.stdout


def test_a_wrong_token_is_replaced_and_a_wrong_password_is_named(idle: Stack) -> None:
    _inside(idle, "grafana-token", f"rm -f {TOKEN}; echo glsa_wrong > {TOKEN}")
    assert "service-account token made" in _step(idle, "grafana-token").stdout
    right = idle.execute("controller", "cat", TOKEN)
    assert right.startswith("glsa_")
    assert right.strip() != "glsa_wrong"
    _inside(idle, "grafana-token", f"rm -f {TOKEN}")
    _inside(idle, "prepare", f"cd {Path(ADMIN).parent}; mv password kept; echo wrong-and-long-enough > password")
    try:
        refused = _step(idle, "grafana-token")
        assert refused.returncode == 1
        assert "Grafana refuses the admin password" in refused.stderr + refused.stdout
    finally:
        _inside(idle, "prepare", f"cd {Path(ADMIN).parent}; mv -f kept password")
    assert _step(idle, "grafana-token").returncode == 0


def test_a_taken_port_is_named_and_another_one_or_a_free_one_helps(idle: Stack) -> None:
    held: socket.socket = idle.engine.within(lambda: socket.create_server(("127.0.0.1", 0)))
    port = held.getsockname()[1]
    other = Stack(idle.engine, {"GRAFANA_PORT": str(port)})
    try:
        done = other.compose("up", "--detach", "--no-build", "--no-deps", "grafana", check=False)
    finally:
        held.close()
    assert done.returncode != 0
    assert f"127.0.0.1:{port}" in done.stderr
    assert "already" in done.stderr
    idle.up()


def _inside(stack: Stack, step: str, script: str) -> None:
    """Change a volume with the rights of the step that owns it."""
    stack.compose("run", "--rm", "--no-deps", "--entrypoint", "sh", step, "-euc", script)


def _step(stack: Stack, name: str) -> subprocess.CompletedProcess[str]:
    return stack.compose("run", "--rm", "--no-deps", name, check=False)
