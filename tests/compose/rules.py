"""What every service of the composition must keep to; each rule yields one sentence for each breach."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.compose.composition import FOLDER, Json, environment, is_step, limits, mounts, ports, services

Rule = Callable[[Json], Iterator[str]]
LOOPBACK = "127.0.0.1"
_EXACT = re.compile(r"[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z0-9.]+)?(@sha256:[0-9a-f]{64})?")
_SECRET = re.compile(r"PASSWORD|TOKEN|SECRET|_KEY|CREDENTIAL")


def pinned_images(composition: Json) -> Iterator[str]:
    """A tag that names one release; never a moving one."""
    for name, service in services(composition):
        if not _EXACT.fullmatch(service.get("image", "")):
            yield f"{name}: the image {service.get('image')!r} is not pinned to one release"


def loopback_ports(composition: Json) -> Iterator[str]:
    """Nothing is reachable from another machine."""
    for name, service in services(composition):
        for address, published, _ in ports(service):
            if address != LOOPBACK:
                yield f"{name}: port {published} is published on {address or 'every address'}"
        if service.get("network_mode") == "host":
            yield f"{name}: shares the host's network"


def unprivileged(composition: Json) -> Iterator[str]:
    """No root, no capability, no way to get one, nothing of the host's, a root file system that cannot be written."""
    for name, service in services(composition):
        if not re.fullmatch(r"[1-9]\d*:\d+", str(service.get("user", ""))):
            yield f"{name}: its user {service.get('user')!r} is not a number above 0 with a group"
        if service.get("cap_drop") != ["ALL"] or service.get("cap_add"):
            yield f"{name}: does not drop every capability"
        if "no-new-privileges:true" not in service.get("security_opt", []):
            yield f"{name}: may gain privileges"
        if service.get("read_only") is not True:
            yield f"{name}: its root file system can be written"
        for key in ("privileged", "pid", "ipc", "userns_mode", "uts", "devices", "cgroup"):
            if service.get(key):
                yield f"{name}: asks for {key}"


def reaped(composition: Json) -> Iterator[str]:
    """Process 1 reaps orphans and passes signals on."""
    for name, service in services(composition):
        if service.get("init") is not True:
            yield f"{name}: has no init process"


def limited(composition: Json) -> Iterator[str]:
    """Each service has a share of cores, memory, processes and log space, and no more."""
    for name, service in services(composition):
        for key in ("cpus", "memory", "pids"):
            if not limits(service).get(key):
                yield f"{name}: has no limit on {key}"
        if not service.get("logging", {}).get("options", {}).get("max-size"):
            yield f"{name}: its log may fill the disk"


def healthy(composition: Json) -> Iterator[str]:
    """What stays up says whether it is well, and comes back; what waits, waits for something that can come true."""
    known = dict(services(composition))
    for name, service in known.items():
        if not is_step(service):
            if not service.get("healthcheck", {}).get("test"):
                yield f"{name}: stays up and has no health check"
            if service.get("restart") != "unless-stopped":
                yield f"{name}: does not come back after a crash"
        for other, wait in service.get("depends_on", {}).items():
            waits_for_end = wait["condition"] == "service_completed_successfully"
            if other not in known:
                yield f"{name}: waits for {other}, which is not there"
            elif wait["condition"] == "service_started" or waits_for_end != is_step(known[other]):
                yield f"{name}: waits for {other} by {wait['condition']}, which does not fit it"


def secrets_in_files(composition: Json) -> Iterator[str]:
    """No secret in a variable or on a command line, where inspection shows it."""
    for name, service in services(composition):
        for variable, value in environment(service).items():
            if _SECRET.search(variable) and not (variable.endswith("_FILE") and value.startswith("/")):
                yield f"{name}: {variable} holds a secret instead of a file's path"
        line = [*(service.get("entrypoint") or []), *(service.get("command") or [])]
        for before, word in zip(["", *line], line, strict=False):
            if _SECRET.search(before.upper()) and not word.startswith(("/", "-")):
                yield f"{name}: {before} is followed by a secret instead of a file's path"
    if composition.get("secrets"):
        yield "a read-only container cannot get a secret that compose copies into it: use a volume"


def sound_mounts(composition: Json) -> Iterator[str]:
    """What is mounted exists; nothing of the repository can be written; the engine's socket stays outside."""
    used = set()
    for name, service in services(composition):
        for mount in mounts(service):
            source = str(mount["source"])
            if mount["type"] == "volume":
                used.add(source)
                if source not in composition.get("volumes", {}):
                    yield f"{name}: mounts the volume {source}, which is not declared"
                continue
            if "docker.sock" in source:
                yield f"{name}: mounts the engine's socket"
            elif not (FOLDER / Path(source)).exists():
                yield f"{name}: mounts {source}, which does not exist"
            if not mount.get("read_only"):
                yield f"{name}: may write to {source}"
    for name in composition.get("volumes", {}):
        if name not in used:
            yield f"the volume {name} is declared and not used"


def built_once(composition: Json) -> Iterator[str]:
    """All containers of ours are one image, built from this repository."""
    ours = {name: service for name, service in services(composition) if service.get("build")}
    if len({service["image"] for service in ours.values()}) > 1:
        yield "our services use different images"
    for name, service in ours.items():
        build = service["build"]
        if not (FOLDER / build["context"] / build["dockerfile"]).is_file():
            yield f"{name}: its Dockerfile does not exist"


RULES: tuple[Rule, ...] = (
    pinned_images,
    loopback_ports,
    unprivileged,
    reaped,
    limited,
    healthy,
    secrets_in_files,
    sound_mounts,
    built_once,
)
"""Every rule of the composition."""
