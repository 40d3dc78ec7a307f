"""`stagelight check`: summaries, problems and exit codes as a person or a program sees them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from controller.__main__ import main
from controller.exit_codes import ExitCode
from controller.plans.schema import json_schema

ROOT = Path(__file__).parents[3]
PLANS = ROOT / "tests" / "controller" / "plans"
EVERY = PLANS / "valid" / "every_kind.yaml"
NIGHTLY = PLANS / "valid" / "awkward.yaml"
BROKEN = PLANS / "invalid" / "numbers.yaml"

TABLE = """\
plan every kind
  seq  stage        phase     start  lasts  load                  measured
  0    warm         warmup    0s     1s     1                     -
  1    up           ramp      1s     10s    0 to 10               -
  2    stairs       steady    11s    2s     10                    12s to 13s
  3    stairs       steady    13s    2s     15                    14s to 15s
  4    stairs       steady    15s    2s     20                    16s to 17s
  5    spike        warmup    17s    2s     0                     -
  6    spike        steady    19s    4s     40                    19s500ms to 23s
  7    spike        cooldown  23s    6s     0                     -
  8    down         ramp      29s    10s    20 to 0               -
  9    soak         steady    39s    1m30s  8                     39s to 2m9s
  10   open hold    steady    2m9s   10s    1,200/s               2m9s to 2m19s
  11   open ramp    ramp      2m19s  10s    0/s to 0.5/s poisson  -
  12   open stairs  steady    2m29s  2s     0.1/s                 2m29s to 2m31s
  13   open stairs  steady    2m31s  2s     0.2/s                 2m31s to 2m33s
  14   open stairs  steady    2m33s  2s     0.3/s                 2m33s to 2m35s
  15   open stairs  steady    2m35s  2s     0.4/s                 2m35s to 2m37s
  16   open spike   warmup    2m37s  2s     0/s                   -
  17   open spike   steady    2m39s  4s     40/s                  2m39s to 2m43s
  18   open spike   cooldown  2m43s  6s     0/s                   -
  19   open soak    steady    2m49s  1m30s  8/s                   2m49s to 4m19s
"""


def test_a_plan_is_shown_as_its_timetable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(EVERY)]) == ExitCode.PASS
    shown = capsys.readouterr()
    assert shown.out.startswith(TABLE)
    assert "  load        4m19s, 3m28s500ms of it measured, 40 users at most, 1,200/s at most\n" in shown.out
    assert "  open loop   open soak: 9 slots take 8/s while an answer takes 1s125ms or less\n" in shown.out
    assert "  objectives  none\n" in shown.out
    assert "  schedule    none: runs when told to\n" in shown.out
    assert shown.err == ""


def test_a_schedule_shows_three_due_times_in_both_clocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(NIGHTLY)]) == ExitCode.PASS
    lines = capsys.readouterr().out.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("  next due"))
    dues = lines[first : first + 3]
    assert len({line[14:30] for line in dues}) == 3
    assert all("22:30 CE" in line and " UTC (" in line for line in dues)


def test_problems_go_to_standard_error_and_good_plans_are_shown_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", str(BROKEN), str(EVERY)]) == ExitCode.USAGE
    shown = capsys.readouterr()
    expected = [
        line.removeprefix("# error: ") for line in BROKEN.read_text().splitlines() if line.startswith("# error")
    ]
    assert shown.err.splitlines() == [f"{BROKEN}:{line}" for line in expected]
    assert shown.out.startswith("plan every kind\n")


def test_json_holds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--json", str(BROKEN), str(NIGHTLY)]) == ExitCode.USAGE
    broken, nightly = json.loads(capsys.readouterr().out)
    assert broken["valid"] is False
    assert broken["problems"][0]["line"] > 1
    assert set(broken["problems"][0]) == {"line", "key", "message", "remedy"}
    assert nightly["valid"] is True
    assert nightly["span_seconds"] == 870
    assert nightly["peak_users"] == 50
    assert nightly["measured_seconds"] == 300 + 240
    assert nightly["slots"][2]["window_seconds"] == [450, 690]
    assert len(nightly["schedule"]["next_due"]) == 3


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--schema"]) == ExitCode.PASS
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_no_plan_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == ExitCode.USAGE
    assert capsys.readouterr().err == "stagelight check: no plan given; name one, such as compose/plans/demo.yaml\n"


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert "example: stagelight check" in capsys.readouterr().out


def drained(terminal: int) -> bytes:
    """Everything written to a terminal until its other end is closed."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so at the end of a terminal
            piece = b""
        if not piece:
            os.close(terminal)
            return shown
        shown += piece


def test_a_terminal_gets_a_table_and_names_are_not_taken_for_markup(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(EVERY.read_text().replace("every kind", '"[red]every[/red] kind"'))
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": "100", "TERM": "xterm"}
    command = [sys.executable, "-m", "controller", "check", str(plan)]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, cwd=ROOT, env=environment) as process:
        os.close(theirs)
        shown = drained(ours)
        assert process.wait(60) == 0, process.stderr and process.stderr.read()
    assert "plan [red]every[/red] kind" in shown.decode()
    assert "│" in shown.decode()
