"""Two Prometheus versions, both of which everything is held to: the one on PATH, and a 3.x one beside us."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.needs import missing, need
from tests.tools import NEWER, NEWER_SUITE

ROOT = Path(__file__).resolve().parents[2]


def every(program: str) -> list[object]:
    """Parameters of a test over both versions of `promtool` or `prometheus`, to be given to `path`.

    The 3.x binary is `build/tools-newer/usr/bin/<program>`, where `make test` puts it, unless STAGELIGHT_PROMTOOL3 or
    STAGELIGHT_PROMETHEUS3 names another.
    """
    newer = os.environ.get(f"STAGELIGHT_{program.upper()}3") or str(ROOT / NEWER / "usr" / "bin" / program)
    return [pytest.param(program, id=f"{program} on PATH"), pytest.param(newer, id=f"{program} 3")]


def path(program: str) -> str:
    """The binary's path; without it the test cannot run."""
    if os.sep not in program:
        return need(program)
    if shutil.which(program) is None:
        missing(f"{program} is not there: `make tools` fetches it from Debian's release {NEWER_SUITE}")
    return program
