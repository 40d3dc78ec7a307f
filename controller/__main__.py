"""The command line: one verb, one module; errors become one sentence each and a stable exit code."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from controller.exit_codes import ExitCode
from controller.plans.problems import PlanError
from controller.ports import EdgeError, RunBrokenError

VERBS = ("check", "rehearse", "run", "serve", "runs", "report", "gate", "dashboards", "demo", "worker")
"""Each is a module of `controller.cli` with `add` and `run`; only those that are needed are imported."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, act, answer with an exit code."""
    parser = argparse.ArgumentParser(
        prog="stagelight",
        description="Scheduled load stages against model servers, with a verdict that knows its own limits.",
        epilog="exit codes: " + ", ".join(f"{code.value} {code.name.lower()}" for code in ExitCode),
    )
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name in words[:1] if words and words[0] in VERBS else VERBS:
        import_module(f"controller.cli.{name}").add(subparsers)
    args = parser.parse_args(words)
    try:
        return int(import_module(f"controller.cli.{args.verb}").run(args))
    except PlanError as error:
        for problem in error.problems:
            sys.stderr.write(f"{problem}\n")
    except EdgeError as error:
        sys.stderr.write(f"stagelight: {error}\n")
        if isinstance(error, RunBrokenError):
            return int(ExitCode.BROKEN)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 -- an unknown fault must not look like a failed objective
        traceback.print_exc()
        sys.stderr.write(f"stagelight: broke, which is a fault of Stagelight itself: {error}\n")
        return int(ExitCode.BROKEN)
    return int(ExitCode.USAGE)


if __name__ == "__main__":
    sys.exit(main())
