"""What the file promises is so in the running containers: no root, nothing writable, no secret in sight."""

from __future__ import annotations

import json

import pytest

from tests.compose.composition import by_ourselves, limits
from tests.compose.engine.stack import Stack, servers, steps


@pytest.mark.parametrize("service", servers())
def test_its_processes_are_not_root_and_cannot_become_it(stack: Stack, service: str) -> None:
    status = stack.execute(service, "cat", "/proc/1/status")
    found = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    assert "0" not in found["Uid"].split()
    assert int(found["CapEff"], 16) == int(found["CapBnd"], 16) == 0
    assert found["NoNewPrivs"].strip() == "1"


@pytest.mark.parametrize("service", servers())
def test_its_file_system_cannot_be_written(stack: Stack, service: str) -> None:
    for place in ("/", "/etc", "/usr", "/opt"):
        said = stack.execute(service, "sh", "-c", f"touch {place}/x 2>&1 || true")
        assert "Read-only file system" in said, (place, said)


@pytest.mark.parametrize("service", servers())
def test_the_engine_limits_it_as_the_file_says(stack: Stack, service: str) -> None:
    told = stack.inspect(service)["HostConfig"]
    wanted = limits(by_ourselves()["services"][service])
    assert told["NanoCpus"] == float(wanted["cpus"]) * 1e9
    assert told["Memory"] == int(wanted["memory"][:-1]) * {"M": 2**20, "G": 2**30}[wanted["memory"][-1]]
    assert told["PidsLimit"] == wanted["pids"]
    assert told["Init"] is True
    assert told["Privileged"] is False


@pytest.mark.parametrize("service", servers())
def test_its_ports_are_on_loopback_only(stack: Stack, service: str) -> None:
    bindings = stack.inspect(service)["HostConfig"]["PortBindings"] or {}
    assert {each["HostIp"] for group in bindings.values() for each in group} <= {"127.0.0.1"}


def test_no_secret_is_seen_from_outside(stack: Stack) -> None:
    password = stack.execute("grafana", "cat", "/run/stagelight/admin/password").strip()
    token = stack.execute("controller", "cat", "/var/lib/stagelight/token/token").strip()
    assert len(password) >= 20
    assert token.startswith("glsa_")
    for service in (*servers(), *steps()):
        told = json.dumps(stack.inspect(service))
        logs = stack.compose("logs", "--no-color", service)
        processes = stack.engine.docker("top", stack.container(service), check=False)
        for secret in (password, token):
            for place in (told, logs.stdout, logs.stderr, processes):
                assert secret not in place, service
    for service in ("exporter", "prometheus", "tfserving", "alertmanager"):
        assert "password" not in json.dumps(stack.inspect(service)["Mounts"])


def test_a_visitor_cannot_write_and_the_token_opens_nothing_else(stack: Stack) -> None:
    mounts = {each["Destination"] for each in stack.inspect("controller")["Mounts"]}
    assert not any("admin" in place for place in mounts)
    modes = stack.execute("controller", "stat", "-c", "%a %u", "/var/lib/stagelight/token/token").split()
    assert modes == ["400", "10001"]
