"""What one refresh of a board costs Prometheus: over 30 min of a run's series, and over 24 h.

`python -m tests.bench.bench_boards` fills a real Prometheus with a day of one generator with a full histogram, a model
server, and what the rules make of them, then asks every query of every board as Grafana would. The figure is the wall
time of Prometheus's own answer, queries one after the other, the better of two refreshes: the first warms the caches.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dashboards.board import Board
from dashboards.catalog import BOARDS
from dashboards.panel import Kind
from dashboards.queries import Expression, expressions, rate_window
from tests.dashboards.store import Store, filled

DAY = 86_400
SCRAPE = 5
PIXELS = 1000
"""Points that Grafana asks for at most, about one a pixel."""

GOALS = {1800: 0.150, DAY: 1.0}
"""Time range in seconds to Prometheus's seconds for the busiest board."""

BOUNDS = [0.0001 * 1.1**power for power in range(140)]
FIGURES = Path("build/figures/boards.json")


def main() -> int:
    """0 whatever the figures are; 2 without Prometheus."""
    prometheus, promtool = shutil.which("prometheus"), shutil.which("promtool")
    if prometheus is None or promtool is None:
        print("bench_boards needs prometheus and promtool on PATH", file=sys.stderr)
        return 2
    end = int(time.time()) // 7200 * 7200 - 7200
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder, filled(_series(end), Path(folder), prometheus, promtool) as store:
        for board in BOARDS:
            for span in GOALS:
                rows.append(_measured(store, board, end, span))
    print(f"{'board':30} {'range':>6} {'queries':>8} {'seconds':>8} {'goal':>6}")
    for row in rows:
        print(f"{row['board']:30} {row['range_s']:>6} {row['queries']:>8} {row['seconds']:>8.3f} {row['goal']:>6}")
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


def _measured(store: Store, board: Board, end: int, span: int) -> dict[str, object]:
    step = max(SCRAPE, -(-span // PIXELS))
    asked = expressions(board, rate_window(step, SCRAPE), None, span, step)
    seconds = min(_refresh(store, asked, end, span, step) for _ in range(2))
    return {
        "board": board.uid,
        "range_s": span,
        "queries": len(asked),
        "seconds": seconds,
        "goal": GOALS[span],
        "series": "one generator with 140 buckets, one model server",
    }


def _refresh(store: Store, asked: tuple[Expression, ...], end: int, span: int, step: int) -> float:
    begun = time.perf_counter()
    for one in asked:
        if one.panel.kind in (Kind.STAT, Kind.TABLE):
            store.at(one.expr, end)
        else:
            store.range(one.expr, end - span, end, step)
    return time.perf_counter() - begun


def _series(end: int) -> str:
    """A day of OpenMetrics: every scrape of the last half hour, every sixth before it, which is what old runs leave."""
    times = [*range(end - DAY, end - 1800, 6 * SCRAPE), *range(end - 1800, end + 1, SCRAPE)]
    return "".join(_lines(times)) + "# EOF\n"


def _lines(times: list[int]) -> Iterator[str]:
    generator = 'job="loadgen",instance="g"'
    for bound in [*BOUNDS, float("inf")]:
        le = "+Inf" if bound == float("inf") else f"{bound:.6g}"
        share = min(1.0, bound / 0.02) if bound != float("inf") else 1.0
        name = f'loadgen_request_duration_seconds_bucket{{{generator},outcome="ok",le="{le}"}}'
        yield from (f"{name} {share * 100 * (at - times[0]):.0f} {at}\n" for at in times)
    for outcome in ("ok", "timeout"):
        rate = 100 if outcome == "ok" else 0
        yield from (
            f'loadgen_requests_total{{{generator},outcome="{outcome}"}} {rate * (at - times[0])} {at}\n' for at in times
        )
    server = 'job="tfserving",instance="t",model_name="m",API="predict",entrypoint="REST"'
    for power in range(34):
        le = "+Inf" if power == 33 else f"{10 * 1.8**power:.6g}"
        name = f':tensorflow:serving:request_latency_bucket{{{server},le="{le}"}}'
        yield from (f"{name} {100 * (at - times[0]) * power // 33} {at}\n" for at in times)
    for name, slope in (("sum", 500_000), ("count", 100)):
        yield from (
            f":tensorflow:serving:request_latency_{name}{{{server}}} {slope * (at - times[0])} {at}\n" for at in times
        )
    for name in ("loadgen_in_flight_requests", "loadgen_users_running"):
        yield from (f"{name}{{{generator}}} {1 + at % 7} {at}\n" for at in times)
    run = 'job="stagelight",instance="c"'
    yield from (f"loadtest_run_active{{{run}}} 1 {at}\n" for at in times)
    info = f'loadtest_run_info{{{run},run_id="r",plan="p",target="t",plan_digest="d"}}'
    yield from (f"{info} 1 {at}\n" for at in times)


if __name__ == "__main__":
    sys.exit(main())
