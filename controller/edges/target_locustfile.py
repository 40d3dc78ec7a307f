"""Is somebody's locustfile usable, and may its user classes send where they want to? Asked before any load.

The file is imported in a process of its own, because it may do anything and because it imports Locust. Only the hosts
that the classes name are checked here: code that builds whole addresses itself is not held back.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import controller
from controller.edges.target_address import Resolver, refused
from controller.plans.plan import Locustfile, Plan
from controller.ports import Finding

IMPORT_SECONDS = 30.0
"""How long the file may take to be imported."""


def locustfile_finding(plan: Plan, own: Locustfile, allow: Sequence[str], resolver: Resolver) -> Finding:
    """One finding: which classes would run against which hosts, or why they may not."""
    try:
        classes = _classes(own)
    except ValueError as error:
        return Finding("locustfile", False, str(error))
    hosts = {name: own.host or host or plan.target.rest or "" for name, host in classes.items()}
    if nameless := [name for name, host in hosts.items() if not host]:
        why = f"the user class {nameless[0]} names no host, and target.rest is not set"
        return Finding("locustfile", False, f"{why}; add workload.host")
    for name, host in hosts.items():
        for sentence in _strangers(name, host, allow, resolver):
            return Finding("locustfile", False, sentence)
    told = ", ".join(f"{name} at {host}" for name, host in hosts.items())
    return Finding("locustfile", True, f"{own.file.name} was imported: {told}; no trial request was sent")


def _strangers(name: str, host: str, allow: Sequence[str], resolver: Resolver) -> Iterator[str]:
    key = f"the host of the user class {name}"
    sentence = refused(key, host if "://" in host else f"//{host}", allow, resolver)
    if sentence is not None:
        yield sentence


def _classes(own: Locustfile) -> Mapping[str, str | None]:
    """Classes and the hosts that they name. Raises `ValueError` with a sentence."""
    root = str(Path(controller.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "controller.generator.own_classes", str(own.file), *own.user_classes]
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=IMPORT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired as error:
        why = f"could not import {own.file}: it took longer than {IMPORT_SECONDS:.0f} s"
        raise ValueError(f"{why}; let it do nothing at import") from error
    found = _told(ended.stdout)
    if ended.returncode != 0 or found is None:
        last = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ValueError(f"could not import {own.file}: its process ended with exit code {ended.returncode}: {last}")
    if "wrong" in found:
        raise ValueError(found["wrong"])
    classes: Mapping[str, str | None] = found["classes"]
    return classes


def _told(output: str) -> dict[str, Any] | None:
    """The last line, whatever the file has printed before it."""
    try:
        found = json.loads((output.strip().splitlines() or [""])[-1])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
