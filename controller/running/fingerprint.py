"""What must be equal for two runs to be comparable: target, workload, hardware, kernel, tool versions."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from controller.breakdown import VERSIONS
from controller.orders import Drained
from controller.plans.plan import Plan, Target

PACKAGES = ("stagelight", "locust", "gevent", "geventhttpclient")


def fingerprint(plan: Plan, identity: Mapping[str, Any], host: Mapping[str, Any]) -> dict[str, Any]:
    """The facts, grouped; `identity` is what the target says of itself, `host` what `host_facts` found."""
    return {
        "target": {**_target(plan.target), **identity},
        "workload": {"digest": workload_digest(plan), "protocol": plan.workload.protocol},
        "generator": {"workers": plan.workers, **host},
        "tools": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    }


def _target(target: Target) -> dict[str, Any]:
    """A target without REST is known by its gRPC address."""
    where = {"grpc": target.grpc} if target.rest is None else {"rest": target.rest}
    return {"kind": target.kind, **where, "model": target.model}


def answered_by(drained: Drained | None) -> dict[str, Any]:
    """Which versions of the model gave the answers, where answers say it."""
    versions = drained.told.get(VERSIONS, {}) if drained is not None else {}
    return {"answered_by": sorted(versions)} if versions else {}


def workload_digest(plan: Plan) -> str:
    """SHA-256 over the workload's settings and the content of its files, wherever they lie."""
    payloads = plan.workload.payloads
    own = plan.workload.locustfile
    nameless = own and replace(own, file=Path(own.file.name))
    pool = replace(payloads, npy=None, jsonl=None, csv=None, requests=None)
    known = plan.workload.expected
    settings = replace(
        plan.workload, payloads=pool, locustfile=nameless, expected=known and replace(known, file=Path(known.file.name))
    )
    digest = hashlib.sha256(repr(settings).encode())
    files = [payloads.npy, payloads.jsonl, payloads.csv, payloads.requests]
    files += [known.file if known else None, own.file if own else None]
    for source in files:
        if source is not None:
            with source.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def host_facts(proc: Path = Path("/proc")) -> dict[str, Any]:
    """CPU model, cores that this process may use, memory in bytes, kernel; a fact that cannot be read is None."""
    return {
        "cpu_model": _field(proc / "cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": _memory(proc / "meminfo"),
        "kernel": platform.release(),
    }


def _field(file: Path, key: str) -> str | None:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), None)


def _memory(file: Path) -> int | None:
    value = _field(file, "MemTotal")
    return int(value.split()[0]) * 1024 if value else None
