"""The step that runs first on every `up`: targets in place, a password made once, running containers undisturbed."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from compose.setup import prepare
from controller.edges.worker_secret import read_secret
from controller.plans.loader import load_plan
from tests.compose.composition import FOLDER, by_ourselves

TARGETS = FOLDER / "prometheus/targets"
TARGETS_GPU = FOLDER / "prometheus/targets-gpu"


@pytest.fixture
def volumes(tmp_path: Path) -> Path:
    for name in ("discovery", "admin", "plan", "secret"):
        (tmp_path / name).mkdir()
    return tmp_path


def run(volumes: Path, *folders: Path, more: Sequence[str] = ()) -> int:
    arguments = ["--targets", *map(str, folders or (TARGETS,)), "--discovery", str(volumes / "discovery")]
    return prepare.main([*arguments, *more, "--password", str(volumes / "admin/password")])


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


def test_the_workers_secret_is_made_once_and_for_us_alone(volumes: Path) -> None:
    arguments = ["--worker-secret", str(volumes / "admin/worker")]
    assert run(volumes, more=arguments) == 0
    first = read_secret(volumes / "admin/worker")
    assert stat.S_IMODE((volumes / "admin/worker").stat().st_mode) == 0o400
    assert run(volumes, more=arguments) == 0
    assert read_secret(volumes / "admin/worker") == first


@pytest.mark.parametrize(
    ("url", "rest", "model", "scraped"),
    [
        ("http://model.lab:8501/v1/models/ranker", "http://model.lab:8501", "ranker", "model.lab:8501"),
        ("https://gpu/v1/models/a.b-c_1/", "https://gpu:443", "a.b-c_1", "gpu:443"),
        ("http://10.0.0.5:8501", "http://10.0.0.5:8501", "scorer", "10.0.0.5:8501"),
    ],
)
def test_one_address_aims_plan_and_prometheus(volumes: Path, url: str, rest: str, model: str, scraped: str) -> None:
    copy = volumes / "compose.yaml"
    assert run(volumes, more=["--target", url, "--plan", str(FOLDER / "plans/compose.yaml"), str(copy)]) == 0
    target = load_plan(copy).target
    assert (target.rest, target.model) == (rest, model)
    (group,) = json.loads((volumes / "discovery/tfserving.json").read_text())
    assert group["targets"] == [scraped]
    assert group["labels"] == ({"__scheme__": "https"} if url.startswith("https") else {})


@pytest.mark.parametrize(
    "url", ["model.lab:8501", "ftp://x", "http://me:secret@x", "http://x/v2/models/m", "http://x:y"]
)
def test_an_address_that_is_none_is_named_and_nothing_changes(
    volumes: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(volumes, more=["--target", url]) == 1
    assert "write it like http://model.example.internal:8501/v1/models/my_model" in capsys.readouterr().err
    assert list((volumes / "discovery").iterdir()) == []


def test_a_plan_that_cannot_be_aimed_is_refused(volumes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (volumes / "odd.yaml").write_text("target:\n  rest: http://x\n")
    more = ["--target", "http://y:1", "--plan", str(volumes / "odd.yaml"), str(volumes / "copy.yaml")]
    assert run(volumes, more=more) == 1
    assert "the plan has no line `target: {… rest: …}`" in capsys.readouterr().err
    assert not (volumes / "copy.yaml").exists()


@pytest.mark.parametrize(("step", "target"), [("prepare", "exporter:9692"), ("prepare-gpu", "exporter-gpu:9692")])
def test_the_step_runs_as_the_composition_calls_it(step: str, target: str, volumes: Path) -> None:
    service = by_ourselves()["services"][step]
    assert service["entrypoint"] == ["python", "/opt/stagelight/setup/prepare.py"]
    places = {"/opt/stagelight": str(FOLDER), "/var/lib/stagelight": str(volumes), "/plans": str(FOLDER / "plans")}
    words = [word.replace(inside, places[inside]) for word in service["command"] for inside in [home(word)]]
    assert prepare.main(words) == 0
    (group,) = json.loads((volumes / "discovery/exporter.json").read_text())
    assert group["targets"] == [target]
    assert (volumes / "admin/password").exists()


def home(word: str) -> str:
    return next((place for place in ("/opt/stagelight", "/plans") if word.startswith(place)), "/var/lib/stagelight")
