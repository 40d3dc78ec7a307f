"""Under which address a daemon and a run let themselves be scraped."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from controller.settings import Settings
from controller.wiring import OWN_NAME, open_daemon_world, open_world

FIXED = '[{"targets": ["controller:9690"], "labels": {}}]'


def settings(folder: Path, address: str | None) -> Settings:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "targets").mkdir()
    (folder / "targets/stagelight.json").write_text(FIXED)
    listen = ("0.0.0.0" if address else "127.0.0.1", port)
    return Settings(
        runs=folder / "runs", discovery=folder / "targets", listen=listen, generator_address=address, min_free=1
    )


def targets(folder: Path) -> dict[str, str]:
    return {path.stem: json.loads(path.read_text())[0]["targets"][0] for path in (folder / "targets").glob("*.json")}


def test_a_daemon_in_a_container_leaves_its_fixed_target_alone(tmp_path: Path) -> None:
    with open_daemon_world(settings(tmp_path, OWN_NAME)) as world:
        assert targets(tmp_path) == {"stagelight": "controller:9690"}
        assert world.generator_address == socket.gethostname()
    assert (tmp_path / "targets/stagelight.json").read_text() == FIXED


def test_a_run_in_a_container_is_found_by_the_containers_name(tmp_path: Path) -> None:
    chosen = settings(tmp_path, OWN_NAME)
    with open_world(chosen):
        found = targets(tmp_path)
    assert found == {"stagelight": "controller:9690", "stagelight-run": f"{socket.gethostname()}:{chosen.listen[1]}"}
    assert "stagelight-run" not in {
        path.stem for path in (tmp_path / "targets").glob("*.json") if path.read_text() != "[]"
    }


@pytest.mark.parametrize(("address", "name"), [(None, "127.0.0.1"), ("load.example.internal", "load.example.internal")])
def test_a_daemon_with_a_lasting_name_publishes_that(tmp_path: Path, address: str | None, name: str) -> None:
    chosen = settings(tmp_path, address)
    with open_daemon_world(chosen):
        assert targets(tmp_path) == {"stagelight": f"{name}:{chosen.listen[1]}"}
