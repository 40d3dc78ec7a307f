"""`make pictures`: a real run on loopback, every board drawn over it by our own renderer, a browser's picture of each.

Committed: each board and the report at 1280 pixels in light colours. The other widths and colours go to
`build/pictures`, to be looked at.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from dashboards.catalog import BOARDS
from dashboards.panel import Kind
from dashboards.report.board_page import render_board
from dashboards.report.fetch import Span, fetch
from tests.dashboards.browser import Browser, browser
from tests.end_to_end.stage import ROOT, Stage, a_stage, record, stagelight
from tests.needs import need
from tests.pictures.png import smaller

COMMITTED = ROOT / "dashboards" / "pictures"
LOOKED_AT = ROOT / "build" / "pictures"
SHOTS = ((1280, "light"), (1280, "dark"), (1920, "light"), (1920, "dark"))
HIGHEST = 2600
REPORT_HEIGHT = 1600
SCRAPE = 5.0

PLAN = """
version: 1
name: NAME
target: {kind: tfserving, rest: TARGET, model: scorer, metrics: TARGET/monitoring/prometheus/metrics}
workload: {payloads: {random: {shape: [16]}}, think_time: 10ms}
workers: 1
stages:
  - {name: warm, kind: hold, users: 2, for: 6s, phase: warmup}
  - {name: climb, kind: staircase, users: {from: 2, step: 2, every: 13s, to: 6}, discard: 3s}
  - {name: soak, kind: soak, users: 4, for: 20s, discard: 3s}
objectives: [p99 <= 250ms, p95 <= 150ms, error_ratio < 1%]
"""


def main() -> int:
    """0: all pictures are there; needs Prometheus and Chromium."""
    chromium, chromedriver = need("chromium"), need("chromedriver")
    COMMITTED.mkdir(exist_ok=True)
    LOOKED_AT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, a_stage(Path(scratch)) as stage:
        runs = [_run(stage, name) for name in ("pictured-before", "pictured")]
        pages = [*_pages(stage, runs, Path(scratch)), ("report", runs[-1] / "report.html")]
        with browser(chromium, chromedriver, Path(scratch) / "profile") as opened:
            for name, page in pages:
                _shoot(opened, name, page, *SHOTS[0])
            for name, page in pages:
                for width, theme in SHOTS[1:]:
                    _shoot(opened, name, page, width, theme)
    return 0


def _run(stage: Stage, name: str) -> Path:
    plan = stage.plan(name, PLAN.replace("NAME", name))
    done = stagelight("run", plan, environment=stage.environment(), timeout=400)
    print(done.stdout[-400:], done.stderr[-400:])
    return next(path.parent for path in sorted(stage.runs.glob(f"{name}-2*/record.json")))


def _pages(stage: Stage, runs: list[Path], scratch: Path) -> Iterator[tuple[str, Path]]:
    """Each board over the last run, as it looked a few seconds before the end of its load."""
    before, last = (record(folder) for folder in runs)
    start, end = _load(last)
    time.sleep(3 * SCRAPE)
    for board in BOARDS:
        earliest = _load(before)[0] - 20 if board.uid == "stagelight-capacity" else start - 20
        values = {"run": last["run_id"], "other": before["run_id"], "shift": str(round(start - _load(before)[0]))}
        chosen = {variable.name: values[variable.name] for variable in board.variables if not variable.many}
        answers = fetch(stage.stack.prometheus_url, board, Span(earliest, end - 6, SCRAPE), chosen, tuple(Kind))
        page = scratch / f"{board.uid}.html"
        page.write_text(render_board(board, answers))
        yield board.uid.removeprefix("stagelight-"), page


def _load(run: dict[str, object]) -> tuple[float, float]:
    """Begin and end of the load, in Unix time."""
    slots = run["timetable"]
    assert isinstance(slots, list)
    return datetime.fromisoformat(slots[0]["started"]).timestamp(), datetime.fromisoformat(
        slots[-1]["ended"]
    ).timestamp()


def _shoot(opened: Browser, name: str, page: Path, width: int, theme: str) -> None:
    opened.open(page, width, "dark" if theme == "dark" else "light")
    height = REPORT_HEIGHT if name == "report" else min(HIGHEST, opened.ask("return document.body.scrollHeight + 8"))
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    opened.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    time.sleep(0.5)
    picture = opened.driver.get_screenshot_as_png()
    opened.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    (LOOKED_AT / f"{name}-{width}-{theme}.png").write_bytes(picture)
    if (width, theme) == SHOTS[0]:
        picture = smaller(picture)
        (COMMITTED / f"{name}.png").write_bytes(picture)
        print(f"{name}.png: {len(picture) // 1000} kB")


if __name__ == "__main__":
    sys.exit(main())
