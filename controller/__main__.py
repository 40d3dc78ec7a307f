"""The command line: one verb, one module; errors become one sentence each and a stable exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from types import ModuleType

from controller.cli import check, dashboards, demo, gate, rehearse, report, run, runs, serve
from controller.exit_codes import ExitCode
from controller.ports import EdgeError
from controller.problems import PlanError

VERBS: tuple[ModuleType, ...] = (check, rehearse, run, serve, runs, report, gate, dashboards, demo)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, act, answer with an exit code."""
    parser = argparse.ArgumentParser(
        prog="stagelight",
        description="Scheduled load stages against model servers, with a verdict that knows its own limits.",
        epilog="exit codes: " + ", ".join(f"{code.value} {code.name.lower()}" for code in ExitCode),
    )
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for module in VERBS:
        module.add(subparsers)
    args = parser.parse_args(arguments)
    chosen = next(module for module in VERBS if module.__name__.rpartition(".")[2] == args.verb)
    try:
        return int(chosen.run(args))
    except PlanError as error:
        for problem in error.problems:
            sys.stderr.write(f"{problem}\n")
    except EdgeError as error:
        sys.stderr.write(f"stagelight: {error}\n")
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    return int(ExitCode.USAGE)


if __name__ == "__main__":
    sys.exit(main())
