"""`stagelight rehearse PLAN`: the whole run against no target, on a clock that jumps; what would happen, and when."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from controller.cli.arguments import add_plan, verb
from controller.exit_codes import ExitCode
from controller.plans.loader import load_plan
from controller.plans.rate import format_rate
from controller.running.rehearsing import rehearse


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(
        subparsers, "rehearse", "go through a run without any load", "stagelight rehearse compose/plans/demo.yaml"
    )
    add_plan(parser)
    parser.add_argument("--json", action="store_true", help="print the journal as JSON lines")


def run(args: argparse.Namespace) -> ExitCode:
    """Print every action with its planned time; the target is not touched."""
    rehearsal = rehearse(load_plan(Path(args.plan)))
    for moment, entry in rehearsal.entries:
        print(json.dumps({"at": moment, **entry}) if args.json else _line(moment, entry))
    if not args.json:
        sys.stderr.write(f"rehearsed: {rehearsal.ended.outcome} ({rehearsal.ended.reason}); nothing was sent\n")
    return ExitCode.PASS


def _line(moment: float, entry: Mapping[str, Any]) -> str:
    order = entry.get("order")
    if order:
        measured = ", measured" if order["measured"] else ""
        arrivals = order["arrivals"]
        load = f"{order['users']} users" if arrivals is None else _rates(arrivals["start"], arrivals["end"])
        what = f"{load}, stage {order['stage']}, {order['phase']}{measured}"
    else:
        what = ", ".join(f"{key} {_shown(key, value)}" for key, value in entry.items() if key != "action")
    return f"{moment:9.2f} s  {entry['action']:<15} {what}"


def _rates(start: float, end: float) -> str:
    return format_rate(end) if start == end else f"{format_rate(start)} to {format_rate(end)}"


def _shown(key: str, value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return f"{value:.0f}" if key == "at" and isinstance(value, float) else str(value)
