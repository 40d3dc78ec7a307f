"""Measures what an open loop is for: a frozen target's P99, beside that of a closed loop at the same server.

`python -m tests.bench.bench_freeze` prints a table and writes `build/figures/freeze.json`; it takes about a minute and
a half. How well the open loop keeps its schedule is measured with the engine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figures import Figure, write
from tests.end_to_end.freeze import Frozen, run

FIGURES = Path("build/figures/freeze.json")
FROZEN = Frozen(rate=200, users=10, lasts=60, closed_lasts=20, frozen=2.0)


def main() -> int:
    """Measure everything. Goals that are not reached are shown, they do not fail."""
    write(list(_frozen()), FIGURES)
    return 0


def _frozen() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        record, _ = run(Path(folder), FROZEN)
    opened, closed = record["windows"]
    expected = FROZEN.expected_p99(opened["seconds"])
    found = {window["loop"]: window["indicators"]["p99"]["value"] for window in (opened, closed)}
    kept, note = opened["punctuality"], f"verdict {record['verdict']['ruling']}"
    name = f"frozen {FROZEN.frozen:g} s of {FROZEN.lasts} s at {FROZEN.rate}/s"
    near = abs(found["open"] - expected) <= 0.05 * expected
    yield Figure(f"{name}, open: P99", round(found["open"], 4), "s", f"{expected:.2f} +- 5 %", near, 1, note)
    small, much = found["closed"] < 0.1, f"the same with {FROZEN.users} users, {closed['outcomes']['ok']:,} requests"
    yield Figure(f"{name}, closed: P99", round(found["closed"], 4), "s", "< 0.1", small, 1, much)
    lost = sum(kept["dropped"].values())
    yield Figure(f"{name}, dropped", float(lost), "", "0", lost == 0, 1, f"of {kept['due']:,} arrivals")


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    sys.stdout.write(f"took {time.monotonic() - began:.1f} s\n")
    raise SystemExit(code)
