"""Every Prometheus there is: the one on PATH always, a 3.x one where it is found, so that both are held to."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.needs import need


def every(program: str) -> list[object]:
    """Parameters of a test over all versions of `promtool` or `prometheus`: paths, or a name to be needed.

    A 3.x binary is named by STAGELIGHT_PROMTOOL3 or STAGELIGHT_PROMETHEUS3, or is `promtool3`, `prometheus3` on PATH.
    """
    newer = os.environ.get(f"STAGELIGHT_{program.upper()}3") or shutil.which(f"{program}3")
    found: list[object] = [pytest.param(program, id=f"{program} on PATH")]
    return [*found, pytest.param(newer, id=f"{program} 3")] if newer else found


def path(program: str) -> str:
    """The binary's path; a bare name must be on PATH, else the test cannot run."""
    return program if os.sep in program else need(program)
