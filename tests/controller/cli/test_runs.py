"""`stagelight runs`: finished, unfinished and unreadable runs, in order of time."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from controller.cli import runs
from controller.exit_codes import ExitCode
from controller.outcome import Outcome
from controller.ports import EdgeError
from controller.verdicts.conclusion import conclude
from controller.verdicts.record import to_json
from tests.controller.loads import T0, Reporter, a_cell, remains


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    runs.add(parser.add_subparsers(dest="verb"))
    return parser.parse_args(["runs", *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two finished runs, one abandoned, one unreadable, and things that are no runs."""
    reporter = Reporter()
    reporter.seconds(20, a_cell([10.0] * 100))
    record = conclude(remains(reporter))
    later = replace(
        record,
        run_id="nightly-later",
        started=record.started + timedelta(hours=2),
        ended=record.ended + timedelta(hours=2),
        outcome=Outcome.STOPPED_BY_PERSON,
    )
    for name, one in (("z-early", record), ("a-late", later)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "record.json").write_bytes(to_json(one))
    for name, file, content, when in (
        ("dead", "journal.jsonl", "{}\n", T0 + 3600),
        ("torn", "record.json", '{"schema": 1', T0 + 9000),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(content)
        os.utime(tmp_path / name / file, (when, when))
        os.utime(tmp_path / name, (when, when))
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "note.txt").write_text("hello")
    return tmp_path


def test_every_run_is_listed_in_order_of_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs.run(parse("--runs", str(folder), "--json")) is ExitCode.PASS
    rows = json.loads(capsys.readouterr().out)
    assert [row["outcome"] for row in rows] == ["completed", "unfinished", "stopped_by_person", "unreadable"]
    assert rows[0] == {
        "run": "nightly-20300101T000000-1a2b",
        "folder": str(folder / "z-early"),
        "plan": "nightly",
        "started": "2029-12-31T23:59:57+00:00",
        "seconds": 24.0,
        "requests": 2000,
        "outcome": "completed",
        "verdict": "pass",
        "exit_code": 0,
        "problem": None,
    }
    assert "still running, or abandoned; last sign of life 2030-01-01 01:00:00 UTC" in rows[1]["problem"]
    assert "not strict JSON" in rows[3]["problem"]


def test_the_table_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs.run(parse("--runs", str(folder)))
    text = capsys.readouterr().out
    assert "2,000" in text
    for word in ("completed", "unfinished", "stopped by person", "unreadable", "pass"):
        assert word in text
    assert len(text.splitlines()) == 5
    assert "\x1b" not in text


def test_an_empty_folder_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs.run(parse("--runs", str(tmp_path))) is ExitCode.PASS
    assert "no runs in" in capsys.readouterr().out
    runs.run(parse("--runs", str(tmp_path), "--json"))
    assert json.loads(capsys.readouterr().out) == []


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(EdgeError, match="No such file or directory; name their folder with --runs"):
        runs.run(parse("--runs", str(tmp_path / "nowhere")))


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("--help")
    assert "example: stagelight runs" in capsys.readouterr().out
