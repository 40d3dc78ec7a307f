"""Write the dashboards' JSON files, or say how those on disk differ: `python -m dashboards --help`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dashboards.files import COMMITTED, differences, write

EXAMPLE = """examples:
  python -m dashboards                    rewrite the files under version control
  python -m dashboards --out /tmp/boards  write them elsewhere
  python -m dashboards --check            exit with 1 if they are not what the code generates
"""


def main(arguments: list[str] | None = None) -> int:
    """0: written, or equal; 1: `--check` found a difference; 2: the folder cannot be written."""
    parser = argparse.ArgumentParser(
        prog="python -m dashboards",
        description="Generate the Grafana dashboards.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=COMMITTED, help="folder of the JSON files (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="write nothing, compare only")
    options = parser.parse_args(arguments)
    if options.check:
        return _check(options.out)
    try:
        written = write(options.out)
    except OSError as error:
        print(f"could not write the dashboards to {options.out}: {error}; choose another folder", file=sys.stderr)
        return 2
    for path in written:
        print(path)
    return 0


def _check(folder: Path) -> int:
    found = differences(folder)
    for difference in found:
        print(difference, end="")
    if found:
        print("the files above are not what the code generates: run `python -m dashboards`", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
