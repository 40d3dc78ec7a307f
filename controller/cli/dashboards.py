"""`stagelight dashboards`: the Grafana dashboards as JSON files."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from controller.cli.arguments import verb
from controller.exit_codes import ExitCode


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(
        subparsers, "dashboards", "write the Grafana dashboards as JSON", "stagelight dashboards --out /tmp/boards"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")


def run(args: argparse.Namespace) -> ExitCode:
    """Let the dashboards' own program write them: controller and dashboards share nothing but names."""
    done = subprocess.run([sys.executable, "-m", "dashboards", "--out", str(args.out)], check=False)
    return ExitCode.PASS if done.returncode == 0 else ExitCode.BROKEN
