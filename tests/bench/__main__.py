"""`make bench`: every measurement in turn; each prints its table and writes `build/figures/<name>.json`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> int:
    """The worst exit status: a goal that is not reached does not fail, a missing tool does."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    return max(int(import_module(f"tests.bench.{name}").main()) for name in names)


if __name__ == "__main__":
    sys.exit(main())
