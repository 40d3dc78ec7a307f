"""Command-line pieces that several verbs share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def verb(subparsers: Any, name: str, what: str, example: str) -> argparse.ArgumentParser:
    """A parser for a verb, its help ending with an example."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example: {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_plan(parser: argparse.ArgumentParser) -> None:
    """The plan file."""
    parser.add_argument("plan", type=Path, metavar="PLAN", help="the plan's YAML file")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The settings file; each setting can also come from the environment."""
    parser.add_argument(
        "--settings", type=Path, metavar="FILE", help="settings as YAML (default: STAGELIGHT_… variables)"
    )
