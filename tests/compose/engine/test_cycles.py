"""Up and down again: nothing of the composition is left."""

from __future__ import annotations

import os
from typing import Any

from tests.compose.composition import FOLDER
from tests.compose.engine.engine import Engine
from tests.compose.engine.stack import Stack, servers

CYCLES = int(os.environ.get("STAGELIGHT_COMPOSE_CYCLES", "2"))


def test_nothing_is_left_after_every_cycle(stack: Stack, figures: dict[str, Any]) -> None:
    engine, clean = stack.engine, 0
    stack.down("--volumes")
    for _ in range(CYCLES):
        assert remains(engine) == {}
        stack.up()
        assert all("(healthy)" in stack.states()[name] for name in servers())
        stack.down("--volumes")
        clean += 1
    assert remains(engine) == {}
    figures["clean_cycles"] = f"{clean} of {CYCLES}"
    assert not (FOLDER / "runs").exists()


def remains(engine: Engine) -> dict[str, str]:
    """Containers, volumes and networks of the composition that are still there."""
    found = {
        "containers": engine.docker("ps", "--all", "--quiet"),
        "volumes": engine.docker("volume", "ls", "--quiet"),
        "networks": engine.docker("network", "ls", "--quiet", "--filter", "type=custom"),
    }
    return {what: text for what, text in found.items() if text.strip()}
