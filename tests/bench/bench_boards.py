"""What one refresh of a board costs Prometheus: over 30 min, and over 24 h; and what the recording rules cost.

`python -m tests.bench.bench_boards` fills a real Prometheus with a day of every series that any board asks for, as many
as a run of four workers against two models on a machine with two GPUs leaves, and asks every query of every row that is
open at first, as Grafana would. The figure is Prometheus's own account of its time (`stats=all` of the answer), which
neither HTTP nor our reading is in; the better of three refreshes: the first warms the caches.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dashboards.board import Board
from dashboards.catalog import BOARDS
from dashboards.grafana.layout import above_the_fold
from dashboards.panel import Kind
from dashboards.queries import Expression, expressions, rate_window
from tests.bench.board_series import DAY, SCRAPE, families, openmetrics
from tests.bench.figures import Figure, write
from tests.dashboards.store import Store, bring_in, running
from tests.prometheus import files

PIXELS = 1000
"""Points that Grafana asks for at most, about one a pixel."""

HALF_HOUR = 1800
GOALS = {HALF_HOUR: 0.150, DAY: 1.0}
"""Time range in seconds to Prometheus's seconds for the busiest board."""

MOST_QUERIES = 20
"""Above the fold: in what a screen of 1080 lines shows without scrolling."""

BLOCK = 7200
REFRESHES = 3
FIGURES = Path("build/figures/boards.json")


def main() -> int:
    """0 whatever the figures are; 2 without Prometheus."""
    prometheus, promtool = shutil.which("prometheus"), shutil.which("promtool")
    if prometheus is None or promtool is None:
        print("bench_boards needs prometheus and promtool on PATH", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        end = _fill(folder, promtool)
        with running(folder, prometheus) as store:
            write([*_boards(store, end), *_rules(store, end)], FIGURES)
    return 0


def _fill(folder: Path, promtool: str) -> int:
    """Bring a day in, block by block; the end of the day in epoch seconds."""
    end = int(time.time()) // BLOCK * BLOCK
    found = families(end)
    for begin in range(end - DAY, end, BLOCK):
        text = folder / "block.om"
        with text.open("w") as file:
            file.writelines(openmetrics(found, begin, begin + BLOCK, end))
        bring_in(text, folder, promtool)
    return end - SCRAPE


def _boards(store: Store, end: int) -> Iterator[Figure]:
    for span, goal in GOALS.items():
        costs = {board.uid: _refresh(store, board, end, span) for board in BOARDS}
        busiest = max(costs, key=lambda uid: costs[uid][0])
        for uid, (seconds, samples, queries) in costs.items():
            note = f"{queries} queries, {samples:,} samples{'; the busiest' if uid == busiest else ''}"
            yield Figure(f"{uid}, {span // 60} min", seconds, "s", f"<= {goal:g} s", seconds <= goal, REFRESHES, note)
    for board in BOARDS:
        number = sum(len(panel.queries) for panel in above_the_fold(board))
        holds = number <= MOST_QUERIES
        yield Figure(f"{board.uid}, above the fold", number, "queries", f"<= {MOST_QUERIES}", holds, 1, "")


def _refresh(store: Store, board: Board, end: int, span: int) -> tuple[float, int, int]:
    """Seconds, samples and number of the queries of the board's open rows."""
    step = max(SCRAPE, -(-span // PIXELS))
    asked = [each for each in _asked(board, span, step) if each.panel in board.opened]
    rounds = [[_cost(store, each, end, span, step) for each in asked] for _ in range(REFRESHES)]
    seconds = min(sum(cost for cost, _ in costs) for costs in rounds)
    return seconds, sum(samples for _, samples in rounds[-1]), len(asked)


def _asked(board: Board, span: int, step: int) -> tuple[Expression, ...]:
    values = {"run": "second", "other": "first", "shift": str(DAY // 4)}
    chosen = {variable.name: values[variable.name] for variable in board.variables if not variable.many}
    return expressions(board, rate_window(step, SCRAPE), chosen, span, step)


def _cost(store: Store, asked: Expression, end: int, span: int, step: int) -> tuple[float, int]:
    instant = asked.panel.kind in (Kind.STAT, Kind.TABLE)
    return store.cost(asked.expr, end if instant else end - span, end, step)


def _rules(store: Store, end: int) -> Iterator[Figure]:
    """Of one evaluation of all rules, alerts included, each five seconds."""
    asked = [rule["expr"] for rule in files.rules(files.RULES + files.ALERTS)]
    rounds = [[store.cost(expr, end, end, SCRAPE) for expr in asked] for _ in range(REFRESHES)]
    seconds = min(sum(cost for cost, _ in costs) for costs in rounds)
    note = f"{len(asked)} rules, {sum(samples for _, samples in rounds[-1]):,} samples, each {SCRAPE} s"
    yield Figure("all rules once", seconds, "s", "", True, REFRESHES, note)


if __name__ == "__main__":
    sys.exit(main())
