"""`stagelight gate`: the archive is judged anew and gives the same answer, unless someone touched it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from controller.cli import gate
from controller.exit_codes import ExitCode
from controller.ports import EdgeError
from controller.verdicts.conclusion import archive_files, conclude
from controller.verdicts.reasons import ReasonKind
from controller.verdicts.record import RunRecord, from_json, to_json
from controller.verdicts.rejudge import read_run, rejudge
from tests.controller.loads import Reporter, a_cell, a_slot, dice, remains


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    gate.add(parser.add_subparsers(dest="verb"))
    return parser.parse_args(["gate", *arguments])


def archived(folder: Path, scale: float = 1.0) -> RunRecord:
    """Windows of 300, 40 and 6 s in a folder, written as a run writes it: many batches, some, too few to compare."""
    rolls, reporter = dice(9), Reporter()
    for second in range(300):
        errors = a_cell([2.0] * (second % 7 == 0), "http_error")
        reporter.second(a_cell([scale * rolls.lognormvariate(2.5, 0.4) for _ in range(30)]), errors)
    for second in range(40):
        late = a_cell([3000.0] * (second == 5), "timeout", 1)
        reporter.second(a_cell([scale * rolls.lognormvariate(2.6, 0.4) for _ in range(60)], slot=1), late)
    for _ in range(6):
        reporter.second(a_cell([scale * rolls.lognormvariate(2.4, 0.4) for _ in range(250)], slot=2))
    slots = [a_slot(0, "soak", 300.0), a_slot(1, "peak", 40.0, 300.0), a_slot(2, "short", 6.0, 340.0)]
    left = remains(reporter, slots)
    record = conclude(left)
    for name, content in archive_files(record, left.ledger).items():
        (folder / name).write_bytes(content)
    return record


def test_judged_again_every_figure_is_the_same(tmp_path: Path) -> None:
    record = archived(tmp_path)
    assert rejudge(*read_run(tmp_path)) == record


@pytest.mark.parametrize(("scale", "code"), [(1.0, ExitCode.PASS), (3.0, ExitCode.FAIL)])
def test_the_exit_code_is_the_verdicts(
    tmp_path: Path, scale: float, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    archived(tmp_path, scale)
    assert gate.run(parse(str(tmp_path))) is code
    assert f"Verdict: {code.name}" in capsys.readouterr().out
    assert gate.run(parse(str(tmp_path / "record.json"))) is code


def test_json_is_the_whole_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = archived(tmp_path)
    gate.run(parse(str(tmp_path), "--json"))
    assert from_json(capsys.readouterr().out.encode()) == record


def test_a_verdict_that_was_changed_by_hand_does_not_count(tmp_path: Path) -> None:
    archived(tmp_path, 3.0)
    body = json.loads((tmp_path / "record.json").read_text())
    body["verdict"]["ruling"], body["exit_code"], body["verdict"]["reasons"] = "pass", 0, []
    body["windows"][0]["indicators"]["p99"]["high"] = 0.01
    (tmp_path / "record.json").write_text(json.dumps(body))
    assert gate.run(parse(str(tmp_path))) is ExitCode.FAIL


def test_an_archive_whose_counts_differ_is_invalid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = archived(tmp_path)
    lines = (tmp_path / "latency.hlog").read_text().splitlines()
    (tmp_path / "latency.hlog").write_text("\n".join(lines[:-2]) + "\n")
    assert gate.run(parse(str(tmp_path))) is ExitCode.INVALID
    again = rejudge(*read_run(tmp_path))
    (reason,) = [reason for reason in again.verdict.reasons if reason.kind is ReasonKind.ARCHIVE_DIFFERS]
    assert reason.slot == 2
    assert f"ok: {record.windows[2].outcomes['ok']:,} in the record" in reason.sentence
    assert "do not tell of the same requests" in " ".join(capsys.readouterr().out.split())


def test_a_run_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(EdgeError, match=r"has no record\.json; see `stagelight runs`"):
        gate.run(parse(str(tmp_path)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("record.json", b"{", "not strict JSON"),
        ("latency.hlog", b"Tag=0/measured/ok,1,1,1,AAAA\n", "line 1 holds no histogram"),
        ("latency.hlog", None, "No such file"),
    ],
)
def test_a_damaged_archive_is_a_broken_run(
    tmp_path: Path, name: str, content: bytes | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    archived(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    assert gate.run(parse(str(tmp_path))) is ExitCode.BROKEN
    assert message in capsys.readouterr().err


def test_the_record_is_not_written_to(tmp_path: Path) -> None:
    record = archived(tmp_path)
    gate.run(parse(str(tmp_path)))
    assert (tmp_path / "record.json").read_bytes() == to_json(record)


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("--help")
    assert "example: stagelight gate" in capsys.readouterr().out
