"""The composition keeps to its rules, in our reading and in compose's own, and each rule sees a breach."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.compose import rules
from tests.compose.composition import (
    FOLDER,
    PROFILES,
    Json,
    by_ourselves,
    compose_command,
    limits,
    mounts,
    ports,
    resolved,
    told,
    variables,
)
from tests.needs import missing

CHANGES: list[tuple[str, rules.Rule, Callable[[Json], Any]]] = [
    ("a moving tag", rules.pinned_images, lambda c: put(c, "grafana", "image", "grafana/grafana:latest")),
    ("no tag", rules.pinned_images, lambda c: put(c, "prometheus", "image", "prom/prometheus")),
    ("half a version", rules.pinned_images, lambda c: put(c, "prometheus", "image", "prom/prometheus:v3.5")),
    ("an open port", rules.loopback_ports, lambda c: put(c, "grafana", "ports", ["3000:3000"])),
    ("a port on all", rules.loopback_ports, lambda c: put(c, "grafana", "ports", ["0.0.0.0:3000:3000"])),
    ("host network", rules.loopback_ports, lambda c: put(c, "exporter", "network_mode", "host")),
    ("root", rules.unprivileged, lambda c: put(c, "tfserving", "user", "0:0")),
    ("the image's user", rules.unprivileged, lambda c: drop(c, "tfserving", "user")),
    ("a capability", rules.unprivileged, lambda c: put(c, "exporter", "cap_add", ["SYS_ADMIN"])),
    ("kept capabilities", rules.unprivileged, lambda c: drop(c, "exporter", "cap_drop")),
    ("new privileges", rules.unprivileged, lambda c: put(c, "grafana", "security_opt", [])),
    ("a writable root", rules.unprivileged, lambda c: put(c, "controller", "read_only", False)),
    ("privileged", rules.unprivileged, lambda c: put(c, "controller", "privileged", True)),
    ("the host's processes", rules.unprivileged, lambda c: put(c, "exporter", "pid", "host")),
    ("no init", rules.reaped, lambda c: put(c, "controller", "init", False)),
    (
        "no memory limit",
        rules.limited,
        lambda c: c["services"]["tfserving"]["deploy"]["resources"]["limits"].pop("memory"),
    ),
    ("no limits", rules.limited, lambda c: drop(c, "prometheus", "deploy")),
    ("an endless log", rules.limited, lambda c: drop(c, "prometheus", "logging")),
    ("no health check", rules.healthy, lambda c: drop(c, "tfserving", "healthcheck")),
    ("no restart", rules.healthy, lambda c: drop(c, "controller", "restart")),
    ("health of a step", rules.healthy, lambda c: wait(c, "prometheus", "prepare", "service_healthy")),
    ("end of a server", rules.healthy, lambda c: wait(c, "controller", "tfserving", "service_completed_successfully")),
    ("a mere start", rules.healthy, lambda c: wait(c, "controller", "tfserving", "service_started")),
    ("a stranger", rules.healthy, lambda c: wait(c, "controller", "redis", "service_healthy")),
    (
        "a password",
        rules.secrets_in_files,
        lambda c: put(c, "grafana", "environment", {"GF_SECURITY_ADMIN_PASSWORD": "x"}),
    ),
    ("a token", rules.secrets_in_files, lambda c: put(c, "controller", "command", ["serve", "--token", "glsa_1"])),
    ("a copied secret", rules.secrets_in_files, lambda c: c.update(secrets={"a": {"environment": "A"}})),
    ("an absent file", rules.sound_mounts, lambda c: mount(c, "tfserving", "./nothing:/x:ro")),
    ("a writable folder", rules.sound_mounts, lambda c: mount(c, "tfserving", "./plans:/x")),
    ("the socket", rules.sound_mounts, lambda c: mount(c, "exporter", "/var/run/docker.sock:/s:ro")),
    ("an undeclared volume", rules.sound_mounts, lambda c: mount(c, "exporter", "other:/x")),
    ("an unused volume", rules.sound_mounts, lambda c: c["volumes"].update(other=None)),
    ("a second image", rules.built_once, lambda c: put(c, "exporter", "image", "stagelight:0.0.9")),
    ("no Dockerfile", rules.built_once, lambda c: c["services"]["exporter"]["build"].update(dockerfile="Nothing")),
]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_the_composition_keeps_the_rule(rule: rules.Rule) -> None:
    assert list(rule(by_ourselves())) == []


@pytest.mark.parametrize("profile", PROFILES, ids=lambda name: name or "default")
def test_compose_itself_accepts_the_file_and_reads_it_as_we_do(profile: str) -> None:
    done = resolved(plugin(), profile)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    every = by_ourselves()["services"]
    ours = {name: each for name, each in every.items() if not each.get("profiles") or profile in each["profiles"]}
    assert set(found["services"]) == set(ours)
    for rule in rules.RULES:
        assert list(rule(found)) == []
    for name, service in ours.items():
        for key in ("image", "user", "command", "entrypoint", "restart", "read_only"):
            assert found["services"][name].get(key) == service.get(key), (name, key)


@pytest.mark.parametrize(("rule", "change"), [each[1:] for each in CHANGES], ids=[each[0] for each in CHANGES])
def test_a_breach_is_seen(rule: rules.Rule, change: Callable[[Json], Any]) -> None:
    broken = told(by_ourselves())
    change(broken)
    assert list(rule(broken)) != []


def test_every_rule_has_a_breach() -> None:
    assert {rule for _, rule, _ in CHANGES} == set(rules.RULES)


def test_the_example_settings_list_every_variable_with_its_default() -> None:
    lines = [line for line in (FOLDER / ".env.example").read_text().splitlines() if line and not line.startswith("#")]
    assert dict(line.split("=", 1) for line in lines) == {**variables(), "COMPOSE_PROFILES": ""}


def test_ports_and_the_archive_move_where_the_settings_say() -> None:
    done = resolved(plugin(), "", GRAFANA_PORT="3999", RUNS_SOURCE="./runs", CONTROLLER_CPUS="3.5")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["services"]
    assert ports(found["grafana"]) == [("127.0.0.1", "3999", "3000")]
    archive = next(each for each in mounts(found["controller"]) if each["target"].endswith("/runs"))
    assert (archive["type"], archive["source"]) == ("bind", str(FOLDER / "runs"))
    assert limits(found["controller"])["cpus"] == 3.5


def plugin() -> list[str]:
    """The compose plugin; without it the test is skipped, or fails in CI."""
    command = compose_command()
    if command is None:
        missing("the compose plugin is not here: install Docker's, or Debian's package `docker-compose` (2.x)")
    return command


def put(composition: Json, service: str, key: str, value: Any) -> None:
    composition["services"][service][key] = value


def drop(composition: Json, service: str, key: str) -> None:
    del composition["services"][service][key]


def wait(composition: Json, service: str, other: str, condition: str) -> None:
    composition["services"][service]["depends_on"] = {other: {"condition": condition}}


def mount(composition: Json, service: str, volume: str) -> None:
    composition["services"][service].setdefault("volumes", []).append(volume)
