"""Two test processes share the machine: the tests of a file that sends load stay in one of them, with what they share."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
LOADS = (
    "end_to_end",
    "controller/generator",
    "controller/edges/test_generator_process.py",
    "compose/targets",
    "validity",
)
SHARE_A_RUN = ("test_one_run.py", "test_every_kind.py")
"""Files that look at one and the same run, which takes more than a minute."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of such a file one group, which one process gets as a whole; the groups have to be there before
    the plugin that deals tests out looks for them."""
    for item in items:
        place = item.path.relative_to(HERE).as_posix()
        if place.startswith(LOADS):
            item.add_marker(pytest.mark.xdist_group("one run" if item.path.name in SHARE_A_RUN else place))
