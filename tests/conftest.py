"""Two test processes share the machine: whatever loads it runs in one of them, one test after the other."""

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test that sends load the same group, which one process gets as a whole."""
    for item in items:
        if item.path.relative_to(HERE).as_posix().startswith(LOADS):
            item.add_marker(pytest.mark.xdist_group("load"))
