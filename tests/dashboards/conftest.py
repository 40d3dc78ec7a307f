from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.dashboards.store import Store, filled
from tests.dashboards.synthetic_run import openmetrics
from tests.needs import need
from tests.prometheus.files import RULES


@dataclass(frozen=True, slots=True)
class Archived:
    """A synthetic run inside a Prometheus; `start` of load in epoch seconds."""

    store: Store
    start: int


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A Prometheus without any data."""
    folder = tmp_path_factory.mktemp("empty-prometheus")
    with filled("# EOF\n", folder, need("prometheus"), need("promtool")) as store:
        yield store


@pytest.fixture(scope="session")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archived]:
    """A Prometheus that holds one run of a machine without a GPU, and what the recording rules make of it."""
    start = int(time.time()) // 60 * 60 - 900
    folder: Path = tmp_path_factory.mktemp("filled-prometheus")
    with filled(openmetrics(start), folder, need("prometheus"), need("promtool"), tuple(RULES)) as store:
        yield Archived(store, start)
