"""Whether a case can be played on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.validity.case import Case

GROUPS = Path("/sys/fs/cgroup")


def unmet(case: Case) -> str | None:
    """The first thing that is missing, as a sentence; None if there is none."""
    poison = case.poison
    if poison is None:
        return None
    if (poison.root or poison.alone) and os.geteuid() != 0:
        return "it needs root"
    for program in poison.needs:
        if shutil.which(program) is None:
            return f"{program} is not on PATH"
    if poison.alone and not _namespaces():
        return "no network namespace can be made"
    for controller in poison.groups:
        if not (GROUPS / controller / "cgroup.procs").exists():
            return f"there is no control group {controller} of version 1"
    return None


@cache
def _namespaces() -> bool:
    done = subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True, timeout=10)
    return done.returncode == 0
