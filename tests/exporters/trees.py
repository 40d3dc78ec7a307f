"""Fixture trees of kernel files: a `/proc` and a `/sys/fs/cgroup` in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from exporters.family import Family

SNAPSHOTS: dict[str, Any] = json.loads(Path(__file__).with_name("host_snapshots.json").read_text(encoding="utf-8"))
"""Two readings of kernel files thirty seconds apart."""

Tree = tuple[Path, Path]
"""The `/proc` and the `/sys/fs/cgroup` of a fixture."""


def write(root: Path, files: dict[str, str]) -> Path:
    """Write relative paths with their text under `root`."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")
    return root


def a_cgroup_v2(root: Path, own: str, files: dict[str, str]) -> Tree:
    """A host with version 2 only; this process is in the cgroup `own`."""
    proc = write(
        root / "proc",
        {
            "self/cgroup": f"0::{own}\n",
            "self/mountinfo": "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n",
        },
    )
    return proc, write(root / "cgroup", files)


def a_cgroup_v1(root: Path, own: str, files: dict[str, str], mounted: str = "/") -> Tree:
    """A host with version 1 controllers and an empty version 2 mount beside them; `mounted` is what they show."""
    controllers = ("cpu", "cpuacct", "memory")
    mounts = [f"32 31 0:29 {mounted} /sys/fs/cgroup/{c} rw - cgroup cgroup rw,{c}" for c in controllers]
    mounts.append("41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw")
    proc = write(
        root / "proc",
        {
            "self/cgroup": "".join(f"{n}:{c}:{own}\n" for n, c in enumerate(controllers, 1)) + "0::/\n",
            "self/mountinfo": "\n".join(mounts) + "\n",
        },
    )
    return proc, write(root / "cgroup", files)


def samples(families: tuple[Family, ...]) -> dict[tuple[str, ...], float]:
    """Name and label values to value."""
    return {(f.metric.name, *labels): value for f in families for labels, value in f.samples}
