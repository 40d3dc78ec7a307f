from __future__ import annotations

import json
from pathlib import Path

import pytest

import dashboards
from dashboards.__main__ import main
from dashboards.catalog import BOARDS
from dashboards.files import COMMITTED, differences, documents


def test_the_committed_files_are_what_the_code_generates() -> None:
    assert differences(COMMITTED) == ()


def test_generation_is_idempotent_to_the_byte() -> None:
    assert documents() == documents()


def test_write_makes_the_folder_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    written = dashboards.write(tmp_path / "boards")
    assert {path.name for path in written} == {f"{board.uid}.json" for board in BOARDS}
    assert set((tmp_path / "boards").iterdir()) == set(written)
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in written)
    before = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in dashboards.write(tmp_path / "boards")] == before


def test_check_finds_a_hand_edit_and_a_file_that_no_board_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    assert main(["--out", str(tmp_path), "--check"]) == 0
    path = tmp_path / f"{BOARDS[0].uid}.json"
    document = json.loads(path.read_text())
    document["title"] = "mine"
    path.write_text(json.dumps(document))
    (tmp_path / "other.json").write_text("{}")
    capsys.readouterr()
    assert main(["--out", str(tmp_path), "--check"]) == 1
    shown = capsys.readouterr()
    assert "mine" in shown.out
    assert "other.json: no board has this uid" in shown.out
    assert "python -m dashboards" in shown.err


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["--out", str(tmp_path / "file" / "boards")]) == 2
    assert capsys.readouterr().err.startswith(f"could not write the dashboards to {tmp_path / 'file' / 'boards'}")
