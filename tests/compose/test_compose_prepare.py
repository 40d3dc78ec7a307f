"""The step that runs first on every `up`: targets in place, a password made once, running containers undisturbed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from compose.setup import prepare
from tests.compose.composition import FOLDER, by_ourselves

TARGETS = FOLDER / "prometheus/targets"
TARGETS_GPU = FOLDER / "prometheus/targets-gpu"


@pytest.fixture
def volumes(tmp_path: Path) -> Path:
    for name in ("discovery", "admin"):
        (tmp_path / name).mkdir()
    return tmp_path


def run(volumes: Path, *folders: Path) -> int:
    arguments = ["--targets", *map(str, folders or (TARGETS,)), "--discovery", str(volumes / "discovery")]
    return prepare.main([*arguments, "--password", str(volumes / "admin/password")])


def test_every_target_file_is_placed_and_readable_by_prometheus(volumes: Path) -> None:
    assert run(volumes) == 0
    placed = {path.name: path.read_bytes() for path in (volumes / "discovery").iterdir()}
    assert placed == {path.name: path.read_bytes() for path in TARGETS.iterdir()}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (volumes / "discovery").iterdir()} == {0o644}


def test_the_generators_target_of_a_run_that_is_on_stays(volumes: Path) -> None:
    (volumes / "discovery/loadgen.json").write_text('[{"targets": ["controller:40001"], "labels": {}}]')
    run(volumes)
    assert "40001" in (volumes / "discovery/loadgen.json").read_text()


def test_with_gpus_the_later_folder_wins(volumes: Path) -> None:
    run(volumes, TARGETS, TARGETS_GPU)
    (group,) = json.loads((volumes / "discovery/exporter.json").read_text())
    assert group["targets"] == ["exporter-gpu:9692"]
    run(volumes)
    (group,) = json.loads((volumes / "discovery/exporter.json").read_text())
    assert group["targets"] == ["exporter:9692"]


def test_the_password_is_long_random_made_once_and_not_for_everybody(
    volumes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(volumes)
    password = volumes / "admin/password"
    first = password.read_text()
    assert len(first) == 32
    assert stat.S_IMODE(password.stat().st_mode) == 0o440
    run(volumes)
    assert password.read_text() == first
    password.unlink()
    run(volumes)
    assert password.read_text() != first
    said = capsys.readouterr()
    assert first not in said.out + said.err
    assert [line.rpartition(" ")[2] for line in said.out.splitlines()] == ["made", "kept", "made"]


def test_an_empty_password_from_a_crash_is_made_anew(volumes: Path) -> None:
    (volumes / "admin/password").touch()
    run(volumes)
    assert len((volumes / "admin/password").read_text()) == 32


def test_nothing_changes_when_one_target_file_is_broken(volumes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = volumes / "bad"
    bad.mkdir()
    (bad / "exporter.json").write_text("[{")
    assert run(volumes, TARGETS, bad) == 1
    assert list((volumes / "discovery").iterdir()) == []
    assert "could not prepare the shared volumes: exporter.json is not JSON" in capsys.readouterr().err


def test_a_volume_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 1
    said = capsys.readouterr().err
    assert str(tmp_path / "discovery") in said
    assert "docker compose down --volumes" in said


def test_no_partial_file_is_left_where_a_name_is_taken_by_a_folder(volumes: Path) -> None:
    (volumes / "discovery/exporter.json").mkdir()
    assert run(volumes) == 1
    assert [path for path in (volumes / "discovery").iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(("step", "target"), [("prepare", "exporter:9692"), ("prepare-gpu", "exporter-gpu:9692")])
def test_the_step_runs_as_the_composition_calls_it(step: str, target: str, volumes: Path) -> None:
    service = by_ourselves()["services"][step]
    assert service["entrypoint"] == ["python", "/opt/stagelight/setup/prepare.py"]
    places = {"/opt/stagelight": str(FOLDER), "/var/lib/stagelight": str(volumes)}
    words = [word.replace(inside, places[inside]) for word in service["command"] for inside in [home(word)]]
    assert prepare.main(words) == 0
    (group,) = json.loads((volumes / "discovery/exporter.json").read_text())
    assert group["targets"] == [target]
    assert (volumes / "admin/password").exists()


def home(word: str) -> str:
    return "/opt/stagelight" if word.startswith("/opt") else "/var/lib/stagelight"
