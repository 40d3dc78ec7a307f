"""`stagelight rehearse`: every step of the run and when it would come, for a reader and for a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.__main__ import main
from controller.exit_codes import ExitCode

EVERY = Path(__file__).parents[1] / "plans" / "valid" / "every_kind.yaml"


def test_a_reader_sees_loads_slots_and_windows_in_seconds_since_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", str(EVERY)]) == ExitCode.PASS
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "     0.00 s  the generator starts"
    assert lines[1] == "     1.00 s    1 users, stage warm, warmup"
    assert "    13.00 s    10 users, stage stairs, steady, measured" in lines
    assert "    13.05 s  slot 2 is measured from here" in lines
    assert "   130.00 s    1,200/s, stage open hold, steady, measured" in lines
    assert lines[-1].endswith("  the generator ends")
    assert not [line for line in lines if "{" in line or "Slot" in line]
    assert "nothing was sent" in shown.err


def test_a_program_reads_json_lines_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", "--json", str(EVERY)]) == ExitCode.PASS
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [entry["seconds"] for entry in entries] == sorted(entry["seconds"] for entry in entries)
    assert entries[0] == {"seconds": 0.0, "action": "StartGenerator"}
    assert entries[1]["order"]["users"] == 1
    assert sum(entry["action"] == "OpenSlot" for entry in entries) == 21
