"""Components that tests cannot do without: found, or a skip with its reason; under `CI=true` a failure."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

REMEDY = {
    "prometheus": "install Debian's package `prometheus`",
    "promtool": "install Debian's package `prometheus`",
    "chromium": "install Debian's package `chromium`",
    "chromedriver": "install Debian's package `chromium-driver`",
    "node": "install Node.js 20 or newer",
    "npm": "install npm",
    "cc": "install a C compiler",
    "docker": "install a Docker client with the compose plugin",
}


def need(program: str) -> str:
    """The program's path. Without it: skip with the reason, or fail when `CI=true`."""
    path = shutil.which(program)
    if path is None:
        missing(f"{program} is not on PATH: {REMEDY.get(program, 'install it')}")
    return path


def missing(reason: str) -> NoReturn:
    """End the test: a skip on a laptop, a failure in CI, where nothing may be missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
