"""`stagelight check PLAN…`: is it a plan, and what would it do, and has this machine room for it? Sends nothing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from controller.cli.arguments import verb
from controller.edges.room_probe import room_findings
from controller.exit_codes import ExitCode
from controller.plans.loader import load_plan
from controller.plans.plan import Plan
from controller.plans.problems import PlanError, Problem
from controller.plans.schema import json_schema
from controller.plans.summary import COLUMNS, facts, rows, to_json
from controller.plans.timetable import lay_out
from controller.ports import Finding


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = verb(subparsers, "check", "check plans and show what they would do", "stagelight check nightly.yaml")
    parser.add_argument("plans", type=Path, nargs="*", metavar="PLAN", help="a plan's YAML file")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of plans, for editors")


def run(args: argparse.Namespace) -> ExitCode:
    """Summaries to standard output, problems to standard error; `USAGE` if any plan has one."""
    if args.schema:
        print(json.dumps(json_schema(), indent=2))
        return ExitCode.PASS
    if not args.plans:
        sys.stderr.write("stagelight check: no plan given; name one, such as compose/plans/demo.yaml\n")
        return ExitCode.USAGE
    now = datetime.now(UTC)
    results = [(path, _load(path)) for path in args.plans]
    if args.json:
        print(json.dumps([_json(path, result, now) for path, result in results], indent=2))
    good = [result for _, result in results if isinstance(result, Plan)]
    for plan in () if args.json else good:
        _show(plan, now)
        sys.stderr.writelines(f"{finding.severity}: {plan.name}: {finding.sentence}\n" for finding in _troubles(plan))
    for _, result in results:
        if not isinstance(result, Plan):
            sys.stderr.writelines(f"{problem}\n" for problem in result)
    return ExitCode.PASS if len(good) == len(results) else ExitCode.USAGE


def _load(path: Path) -> Plan | tuple[Problem, ...]:
    try:
        return load_plan(path)
    except PlanError as error:
        return error.problems


def _json(path: Path, result: Plan | tuple[Problem, ...], now: datetime) -> dict[str, Any]:
    if isinstance(result, Plan):
        room = [asdict(finding) for finding in room_findings(result, Path("runs"), None)]
        return {"path": str(path), "valid": True} | to_json(result, now) | {"room": room}
    problems = [{"line": p.line, "key": p.key, "message": p.message, "remedy": p.remedy} for p in result]
    return {"path": str(path), "valid": False, "problems": problems}


def _troubles(plan: Plan) -> list[Finding]:
    """What this machine would not give a run of the plan, as far as it can be told without asking the target."""
    return [finding for finding in room_findings(plan, Path("runs"), None) if finding.severity != "ok"]


def _show(plan: Plan, now: datetime) -> None:
    timetable = lay_out(plan)
    table, pairs = list(rows(timetable)), list(facts(plan, timetable, now))
    if sys.stdout.isatty():
        _show_rich(plan.name, table, pairs)
        return
    print(f"plan {plan.name}")
    _columns([COLUMNS, *table])
    _columns(pairs)
    print()


def _columns(lines: Iterable[Sequence[str]]) -> None:
    """Plain text in columns, as wide as their widest entry."""
    table = list(lines)
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _show_rich(name: str, table: Iterable[Sequence[str]], pairs: Iterable[tuple[str, str]]) -> None:
    from rich.console import Console  # slower to import than a plan is to load; only a terminal needs it
    from rich.table import Table
    from rich.text import Text

    console = Console()
    drawn = Table(title=Text(f"plan {name}", style="bold"), title_justify="left", show_edge=False)
    for column in COLUMNS:
        drawn.add_column(column, justify="right" if column in ("seq", "start", "lasts", "load") else "left")
    for row in table:
        drawn.add_row(*map(Text, row), style="green" if row[-1] != "-" else None)
    console.print(drawn)
    words = Table.grid(padding=(0, 2))
    for word, text in pairs:
        words.add_row(Text(word, style="dim"), Text(text))
    console.print(words)
