"""`stagelight gate RUN`: judge an archived run anew from its histograms, for pipelines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from controller.cli.arguments import verb
from controller.exit_codes import ExitCode
from controller.ports import EdgeError
from controller.verdicts.record import RunRecord, to_json
from controller.verdicts.rejudge import read_run, rejudge
from controller.verdicts.table import show


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(
        subparsers,
        "gate",
        "judge an archived run again from its histograms and exit with the verdict's code",
        "stagelight gate runs/demo-20300101T120000-1a2b --json",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder, or its record.json")
    parser.add_argument("--json", action="store_true", help="print the record with its new verdict as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    """Judge, show, answer with the code; a damaged archive is a broken run, a missing one a usage error."""
    folder = args.run if args.run.is_dir() else args.run.parent
    if not (folder / "record.json").is_file():
        raise EdgeError(f"could not find a run in {args.run}: it has no record.json; see `stagelight runs`")
    try:
        record = rejudge(*read_run(folder))
    except EdgeError as error:
        sys.stderr.write(f"stagelight: {error}\n")
        return ExitCode.BROKEN
    _print(record, as_json=args.json)
    return record.exit_code


def _print(record: RunRecord, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(to_json(record).decode())
    else:
        show(record, Console(highlight=False))
