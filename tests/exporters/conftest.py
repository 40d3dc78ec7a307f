"""Fixtures of the exporter's tests."""

from __future__ import annotations

import pytest

from tests.exporters.nvml import A, B, Standin, a_device, a_system, build


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Standin:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def standin(library: Standin) -> Standin:
    (library.folder / "calls").unlink(missing_ok=True)
    library.script(a_system(), a_device(0, A), a_device(1, B, temperature="error 3"))
    return library
