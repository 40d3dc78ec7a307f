"""`make validity-matrix`: play every case, say what was found, write `build/figures/validity.json`.

Each case is a process of its own and leaves its row in `build/validity`, so a broken-off matrix goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from tests.validity.case import BRIEF, WHOLE, Case
from tests.validity.needs import unmet
from tests.validity.play import play
from tests.validity.report import publish, row_line, totals
from tests.validity.scoring import Row, score
from tests.validity.table import CASES

RESULTS = Path("build/validity")
CASE_SECONDS = 180.0
UNPLAYED = 77
"""Exit status of a case that cannot be played here."""


def main() -> int:
    """0 when every goal is reached; 1 when not, or when a case could not be played."""
    arguments = _arguments()
    if arguments.child:
        return _play_here(CASES[arguments.child], arguments.results, brief=arguments.brief)
    chosen = [case for case in CASES.values() if _wanted(case, arguments)]
    if arguments.fresh:
        for case in chosen:
            _file(arguments.results, case.name).unlink(missing_ok=True)
    rows = [row for case in chosen if (row := _row(case, arguments)) is not None]
    figures = totals(rows)
    whole = len(chosen) == len(CASES)
    publish(rows, figures, Path("build/figures/validity.json"), readme=Path("README.md") if whole else None)
    return 0 if len(rows) == len(chosen) and all(figure.holds for figure in figures if figure.goal) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.validity", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="play what was played before, too")
    parser.add_argument("--only", action="append", default=[], choices=sorted(CASES), help="this case alone")
    parser.add_argument("--kind", choices=("healthy", "poisoned", "slow"), help="cases of this kind alone")
    parser.add_argument("--brief", action="store_true", help="with the short load that the tests use")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where rows and run folders go")
    parser.add_argument("--child", choices=sorted(CASES), help=argparse.SUPPRESS)
    return parser.parse_args()


def _wanted(case: Case, arguments: argparse.Namespace) -> bool:
    return (not arguments.only or case.name in arguments.only) and arguments.kind in (None, case.kind)


def _file(results: Path, name: str) -> Path:
    return results / f"{name}.json"


def _row(case: Case, arguments: argparse.Namespace) -> Row | None:
    """The row of an earlier call, or of a run now; None where the case cannot be played."""
    file = _file(arguments.results, case.name)
    if not file.exists():
        why = played_apart(case, arguments.results, brief=arguments.brief)
        if why:
            print(f"{case.name:20} not played: {why}", flush=True)
            return None
    row = Row(**json.loads(file.read_text()))
    print(row_line(row), flush=True)
    return row


def played_apart(case: Case, results: Path, *, brief: bool) -> str:
    """Play a case in a process of its own, in a network of its own if it asks for one; why not, if not."""
    if (why := unmet(case)) is not None:
        return why
    command = [sys.executable, "-m", "tests.validity", "--child", case.name, "--results", str(results)]
    command += ["--brief"] if brief else []
    if case.poison is not None and case.poison.alone:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", *command]
    results.mkdir(parents=True, exist_ok=True)
    with (results / f"{case.name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(CASE_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_session(process)
    if code == 0:
        return ""
    how = f"it took longer than {CASE_SECONDS:.0f} s" if code is None else f"exit status {code}"
    return f"{how}; see {results / f'{case.name}.log'}"


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """First in order, so that the case can undo what it did; then by force."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(15.0)


def _play_here(case: Case, results: Path, *, brief: bool) -> int:
    folder = (results / "runs" / case.name).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    played = play(case, BRIEF if brief else WHOLE, folder)
    row = score(case, played)
    file = _file(results, case.name)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(row), indent=1) + "\n")
    fresh.replace(file)
    print(row_line(row))
    print(f"{time.monotonic() - began:.1f} s; {played.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
