"""`stagelight runs`: the archived runs, newest last, also those that broke."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from controller.cli.arguments import verb
from controller.exit_codes import ExitCode
from controller.figures.wording import span
from controller.verdicts.run_list import Entry, Finished, Unfinished, Unreadable, list_runs
from controller.verdicts.table import STYLES

RUNS = Path("runs")
WIDE = 400


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(subparsers, "runs", "list the archived runs, newest last", "stagelight runs --runs runs --json")
    parser.add_argument("--runs", type=Path, default=RUNS, metavar="DIR", help="where run folders lie (default: runs)")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")


def run(args: argparse.Namespace) -> ExitCode:
    """List; a broken run is listed as such and is no error of the listing."""
    entries = list_runs(args.runs)
    if args.json:
        sys.stdout.write(json.dumps([_row(entry) for entry in entries], indent=1, allow_nan=False) + "\n")
    elif entries:
        _print(_table(entries))
    else:
        sys.stdout.write(f"no runs in {args.runs} yet; start one with `stagelight run PLAN`\n")
    return ExitCode.PASS


def _print(table: Table) -> None:
    """On a terminal as wide as that; elsewhere one line a run, however long, for other programs."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    sink = io.StringIO()
    Console(file=sink, width=WIDE, color_system=None).print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in sink.getvalue().splitlines()))


def _row(entry: Entry) -> dict[str, Any]:
    match entry:
        case Finished(folder=folder, record=record):
            return {
                "run": record.run_id,
                "folder": str(folder),
                "plan": record.plan.name,
                "started": record.started.isoformat(),
                "seconds": (record.ended - record.started).total_seconds(),
                "requests": sum(record.totals.values()),
                "outcome": record.outcome.value,
                "verdict": record.verdict.ruling.value,
                "exit_code": int(record.exit_code),
                "problem": None,
            }
        case Unfinished(folder=folder) | Unreadable(folder=folder):
            state = "unfinished" if isinstance(entry, Unfinished) else "unreadable"
            return {"run": folder.name, "folder": str(folder), "outcome": state, "problem": entry.sentence}


def _table(entries: tuple[Entry, ...]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False, show_edge=False)
    for column in ("run", "started (UTC)", "took", "requests", "outcome", "verdict"):
        table.add_column(column, overflow="fold", justify="right" if column in ("took", "requests") else "left")
    for entry in entries:
        match entry:
            case Finished(record=record):
                ruling = record.verdict.ruling
                table.add_row(
                    record.run_id,
                    f"{record.started:%Y-%m-%d %H:%M}",
                    span((record.ended - record.started).total_seconds()),
                    f"{sum(record.totals.values()):,}",
                    record.outcome.value.replace("_", " "),
                    Text(ruling.value, style=STYLES[ruling]),
                )
            case Unfinished(folder=folder) | Unreadable(folder=folder):
                state = "unfinished" if isinstance(entry, Unfinished) else "unreadable"
                table.add_row(folder.name, "-", "-", "-", state, entry.sentence)
    return table
