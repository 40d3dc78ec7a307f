"""`stagelight run PLAN`: run it now, show it live, judge it, archive it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from controller.cli.arguments import add_plan, add_settings, verb
from controller.cli.display import Display
from controller.cli.signals import stop_on_signals
from controller.exit_codes import ExitCode
from controller.plans.duration import parse_duration
from controller.plans.loader import load_plan
from controller.plans.plan import Plan
from controller.running.conducting import Finished, World, conduct
from controller.running.loop import StopRequest
from controller.running.recovery import close_dangling
from controller.settings import load_settings
from controller.verdicts.record import to_json
from controller.verdicts.table import show
from controller.wiring import open_world


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(subparsers, "run", "run a plan now", "stagelight run compose/plans/demo.yaml")
    add_plan(parser)
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="print the record instead of the verdict's screen")
    parser.add_argument(
        "--wait", type=_seconds, default=0.0, metavar="TIME", help="how long to wait for a run that is on (such as 10m)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> ExitCode:
    """Exit with the code of the run's end."""
    plan = load_plan(Path(args.plan))
    with open_world(load_settings(args.settings), patience=args.wait) as world:
        recover(world)
        finished = perform(world, plan, StopRequest(), quiet=args.quiet or args.json)
    if args.json:
        print(json.dumps(json.loads(to_json(finished.record))))
    else:
        say(finished)
    return finished.record.exit_code


def _seconds(text: str) -> float:
    try:
        return parse_duration(text).total_seconds()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def recover(world: World) -> None:
    """Close what a crashed controller left, and say so."""
    for lost in close_dangling(world.runs, world.annotator, world.discovery, world.clock):
        sys.stderr.write(f"closed as abandoned: {lost.run_id}: {lost.why}\n")


def perform(world: World, plan: Plan, stop: StopRequest, *, quiet: bool = False) -> Finished:
    """Run with a live display; SIGINT and SIGTERM stop the run, a second one at once. One that comes when the run is
    over, while its report is drawn, stays in `stop`."""
    with stop_on_signals(stop), Display(world.board, Console(stderr=True), quiet=quiet) as display:
        return conduct(world, plan, stop, display.turn)


def say(finished: Finished) -> None:
    """The verdict on one screen, and where the rest is."""
    console = Console()
    show(finished.record, console)
    report = finished.report or f"none: {finished.trouble}"
    console.print(f"report      {report}", highlight=False, soft_wrap=True)
    console.print(f"run folder  {finished.folder}", highlight=False, soft_wrap=True)
    console.print(
        f"exit code   {finished.record.exit_code.value} ({finished.record.exit_code.name.lower()})", highlight=False
    )
