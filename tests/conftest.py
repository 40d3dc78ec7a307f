"""Two test processes share the machine: the tests of a file stay in one of them, with the run or browser they share."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

SHARE_A_RUN = ("test_one_run.py", "test_every_kind.py")
"""Files that look at one and the same run, which takes more than a minute."""


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Deals out whole files, those with the most tests first.

    The plugin's own way by marks does nothing under pytest 9, which ignores what the plugin appends to a test's name.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "one run" if file.endswith(SHARE_A_RUN) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """For every kind of distribution that is asked for."""
    return ByFile(config, log)
