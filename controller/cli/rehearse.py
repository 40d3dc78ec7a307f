"""`stagelight rehearse PLAN`: the whole run against no target, on a clock that jumps; what would happen, and when."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
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
    parser.add_argument("--json", action="store_true", help="print it as JSON lines; seconds are since the start")


def run(args: argparse.Namespace) -> ExitCode:
    """Print every action with its planned time; the target is not touched."""
    rehearsal = rehearse(load_plan(Path(args.plan)))
    for moment, entry in rehearsal.entries:
        told = {key: value for key, value in entry.items() if key != "at"}  # of a clock that nobody else has
        if args.json:
            print(json.dumps({"seconds": round(moment, 3), **told}))
        elif (what := _words(told)) is not None:
            print(f"{moment:9.2f} s  {what}")
    if not args.json:
        sys.stderr.write(f"rehearsed: {rehearsal.ended.outcome} ({rehearsal.ended.reason}); nothing was sent\n")
    return ExitCode.PASS


def _words(entry: Mapping[str, Any]) -> str | None:
    """What happens, for a reader; None for what only keeps an annotation alive."""
    match entry["action"]:
        case "StartGenerator":
            return "the generator starts"
        case "Give":
            return f"  {_load(entry['order'])}"
        case "OpenSlot":
            return f"slot {entry['seq']} begins"
        case "OpenWindow":
            return f"slot {entry['seq']} is measured from here"
        case "CloseSlot":
            return f"slot {entry['seq']} ends"
        case "ExtendSlot":
            return None
        case "DrainGenerator":
            return f"no more load; answers are awaited for up to {entry['timeout']:g} s"
        case "QuitGenerator":
            return "the generator ends"
        case other:
            return f"{other} " + ", ".join(f"{key} {value}" for key, value in entry.items() if key != "action")


def _load(order: Mapping[str, Any]) -> str:
    measured, arrivals = ", measured" if order["measured"] else "", order["arrivals"]
    load = f"{order['users']} users" if arrivals is None else _rates(arrivals["start"], arrivals["end"])
    return f"{load}, stage {order['stage']}, {order['phase']}{measured}"


def _rates(start: float, end: float) -> str:
    return format_rate(end) if start == end else f"{format_rate(start)} to {format_rate(end)}"
