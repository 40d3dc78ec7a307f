"""`stagelight report RUN`: draw the report of an archived run again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from controller.cli.arguments import verb
from controller.exit_codes import ExitCode
from controller.ports import EdgeError
from controller.running.reporting import draw_report


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(
        subparsers,
        "report",
        "draw the report of an archived run again",
        "stagelight report runs/demo-20300101T120000-1a2b",
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("--prometheus", metavar="URL", help="fetch the series anew from this Prometheus")


def run(args: argparse.Namespace) -> ExitCode:
    """Draw and print where it is."""
    if not (args.folder / "record.json").is_file():
        raise EdgeError(f"could not find a run in {args.folder}: it has no record.json; see `stagelight runs`")
    print(draw_report(args.folder, args.prometheus))
    return ExitCode.PASS
