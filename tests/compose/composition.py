"""The composition as the tests read it: resolved by the compose plugin where there is one, and by ourselves always."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "compose"
FILE = FOLDER / "compose.yaml"
PROFILES = ("", "gpu", "gpu-demo")
PLUGIN = "libexec/docker/cli-plugins/docker-compose"
_VARIABLE = re.compile(r"\$\{([A-Z_]+):-([^}]*)\}")

Json = dict[str, Any]


def compose_command() -> list[str] | None:
    """A command that is the compose plugin: Docker's own, one beside us, or none."""
    if shutil.which("docker") and _works(["docker", "compose"]):
        return ["docker", "compose"]
    found = shutil.which("docker-compose")
    places = [Path(found)] if found else []
    places += [ROOT / "build" / folder / "usr" / PLUGIN for folder in ("tools", "tools-newer")]
    return next(([str(place)] for place in places if place.exists() and _works([str(place)])), None)


def _works(command: list[str]) -> bool:
    done = subprocess.run([*command, "version", "--short"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip().lstrip("v") >= "2"


def resolved(command: list[str], profile: str, **choices: str) -> subprocess.CompletedProcess[str]:
    """What the plugin makes of the file, as JSON, with these choices and no other variable of this machine."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | choices
    line = [*command, "--file", str(FILE), *(["--profile", profile] if profile else [])]
    line += ["--env-file", os.devnull, "config", "--format", "json"]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=30, check=False)


@functools.cache
def _read() -> str:
    return FILE.read_text("utf-8")


def by_ourselves() -> Json:
    """The file with merge keys followed and every variable at its default, all profiles on."""
    found: Json = yaml.safe_load(_VARIABLE.sub(lambda match: match[2], _read()))
    return found


def variables() -> dict[str, str]:
    """Every variable of the file with its default."""
    return dict(_VARIABLE.findall(_read()))


def services(composition: Json) -> Iterator[tuple[str, Json]]:
    """Name and content of every service."""
    yield from composition["services"].items()


def is_step(service: Json) -> bool:
    """Whether the service does one thing and ends."""
    return service.get("restart") == "no"


def environment(service: Json) -> Mapping[str, str]:
    """The service's variables."""
    found = service.get("environment") or {}
    return {name: str(value) for name, value in found.items()}


def mounts(service: Json) -> list[Json]:
    """The service's mounts in the long form."""
    return [_long(mount) for mount in service.get("volumes", [])]


def _long(mount: Any) -> Json:
    if isinstance(mount, dict):
        return mount
    source, target, *mode = mount.split(":")
    kind = "bind" if source.startswith((".", "/")) else "volume"
    return {"type": kind, "source": source, "target": target, "read_only": mode == ["ro"]}


def ports(service: Json) -> list[tuple[str, str, str]]:
    """Host address, published port and port inside, of every published port; an absent address is empty."""
    found = []
    for port in service.get("ports", []):
        if isinstance(port, dict):
            found.append((str(port.get("host_ip", "")), str(port["published"]), str(port["target"])))
        else:
            *host, published, target = str(port).rsplit(":", 2)
            found.append(("".join(host), published, target))
    return found


def limits(service: Json) -> Json:
    """The service's resource limits."""
    found: Json = service.get("deploy", {}).get("resources", {}).get("limits", {})
    return found


def told(composition: Json) -> Json:
    """A copy that a test may change."""
    copy: Json = json.loads(json.dumps(composition))
    return copy
