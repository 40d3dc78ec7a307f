"""One engine and one set of images for all tests here; without them: a skip with its reason, or a failure in CI."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compose.composition import ROOT
from tests.compose.engine import images
from tests.compose.engine.engine import Engine, EngineError, start
from tests.compose.engine.materials import MATERIALS, base_archive, fetch_programs, wheels
from tests.compose.engine.stack import Stack, wait_for
from tests.needs import missing

ASKED = "STAGELIGHT_COMPOSE_TEST"
ORDER = ("test_first_run", "test_hardening", "test_use", "test_faults", "test_cycles")
"""One composition goes through all of them, from its first `up` to its last `down`."""
FIGURES = ROOT / "build/figures/compose.json"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """These tests take minutes and root: only `make compose-test` runs them, the quick ones of the file first."""
    here = Path(__file__).parent
    if not os.environ.get(ASKED):
        items[:] = [item for item in items if here not in item.path.parents]
    else:
        items.sort(key=lambda item: ORDER.index(item.path.stem) + 1 if here in item.path.parents else 0)


@pytest.fixture(scope="session")
def figures() -> Iterator[dict[str, object]]:
    """What was measured; written at the end."""
    found: dict[str, object] = {}
    yield found
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Our own engine with every image of the composition."""
    if os.geteuid() != 0:
        missing("an engine of our own needs root: run as root, or in a container that may make namespaces")
    home = Path(tempfile.mkdtemp(prefix="sl-", dir="/tmp"))
    data = MATERIALS.resolve() / "engine"
    shutil.rmtree(data, ignore_errors=True)
    try:
        fetch_programs()
        base_archive()
        wheels()
        up = start(home, data)
    except EngineError as error:
        shutil.rmtree(home, ignore_errors=True)
        missing(f"no Docker engine: {error}")
    try:
        yield up
    finally:
        up.stop()
        shutil.rmtree(data, ignore_errors=True)


@pytest.fixture(scope="session")
def built(engine: Engine, tmp_path_factory: pytest.TempPathFactory, figures: dict[str, object]) -> Engine:
    """The engine with every image."""
    begun = time.monotonic()
    images.build_all(engine, tmp_path_factory.mktemp("images"))
    figures["build_seconds"] = round(time.monotonic() - begun, 1)
    return engine


@pytest.fixture(scope="session")
def stack(built: Engine, figures: dict[str, object]) -> Iterator[Stack]:
    """The composition, up for the first time and timed; nothing of it is left afterwards."""
    composition = Stack(built, {})
    begun = time.monotonic()
    try:
        composition.up()
        figures.setdefault("up_to_healthy_seconds", round(time.monotonic() - begun, 1))
        figures["begun"] = begun
        yield composition
    finally:
        figures.pop("begun", None)
        composition.compose("down", "--volumes", "--timeout", "20", check=False)


@pytest.fixture
def idle(stack: Stack) -> Stack:
    """No run is on."""
    wait_for(lambda: stack.value("loadtest_run_active") == 0 and stack.runs(), 200, "the run that is on is over")
    return stack
