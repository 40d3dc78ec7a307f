"""`stagelight serve`: the daemon that runs plans when their schedules say so."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from controller.cli.arguments import add_settings, verb
from controller.cli.run import recover
from controller.cli.signals import stop_on_signals
from controller.exit_codes import ExitCode
from controller.plans.loader import load_plan
from controller.plans.plan import Plan
from controller.plans.problems import PlanError, Problem
from controller.ports import EdgeError
from controller.running.conducting import World
from controller.running.daemon import Daemon
from controller.running.loop import StopRequest
from controller.settings import load_settings
from controller.wiring import open_daemon_world


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(subparsers, "serve", "run plans by their schedules until stopped", "stagelight serve compose/plans")
    parser.add_argument("plans", type=Path, nargs="+", metavar="PLAN", help="plan files, or folders of them")
    parser.add_argument("--now", action="store_true", help="run every plan once at the start, then by schedule")
    add_settings(parser)


def run(args: argparse.Namespace) -> ExitCode:
    """Serve until SIGTERM or SIGINT; both are clean ends."""
    _log_to_stderr()
    plans = load_all(plan_files(args.plans), at_once=args.now)
    stop = StopRequest()
    with stop_on_signals(stop), open_daemon_world(load_settings(args.settings)) as world:
        _recover_unless_on(world)
        Daemon(world, plans, stop, at_once=args.now).serve()
    return ExitCode.PASS


def _recover_unless_on(world: World) -> None:
    """Close lost runs now, or before the next run if one that somebody started by hand is on."""
    try:
        with world.runs.turn():
            recover(world)
    except EdgeError as error:
        logging.getLogger(__name__).info("lost runs are closed later: %s", error)


def plan_files(named: Iterable[Path]) -> list[Path]:
    """The files that are meant: a folder stands for every `.yaml` and `.yml` in it, by name."""
    files: list[Path] = []
    for path in named:
        inside = (
            sorted(entry for entry in path.glob("*") if entry.suffix in (".yaml", ".yml")) if path.is_dir() else [path]
        )
        if not inside:
            raise EdgeError(f"could not find a plan in {path}: it holds no .yaml file")
        files += inside
    return files


def load_all(files: Iterable[Path], *, at_once: bool = False) -> list[Plan]:
    """Every plan, with a schedule among them. Raises `PlanError` with the problems of all files at once."""
    plans: list[Plan] = []
    problems: list[Problem] = []
    for file in files:
        try:
            plans.append(load_plan(file))
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(tuple(problems))
    names = [plan.name for plan in plans]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EdgeError(f"could not serve two plans of one name: {', '.join(twice)}; rename one of each")
    if not at_once and not any(plan.schedule for plan in plans):
        raise EdgeError("could not serve: no plan has a schedule; give one a `schedule:`, or use `stagelight run`")
    return plans


def _log_to_stderr() -> None:
    formatter = logging.Formatter("%(asctime)sZ %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
