"""The report in a real browser, opened from disk."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from dashboards.load_test import BOARD
from dashboards.panel import Kind
from dashboards.report.__main__ import main
from tests.dashboards.archived_run import write_run
from tests.dashboards.browser import Browser, browser
from tests.dashboards.conftest import Archived
from tests.needs import need

pytestmark = pytest.mark.slow

UNMEASURED = {"gpu"}
"""Panels of what the machine of these tests does not have: the report says that they are empty."""

WITH_AXIS = [
    panel.key for panel in BOARD.panels if panel.kind in (Kind.LINES, Kind.HEATMAP) and panel.key not in UNMEASURED
]
BY_ITSELF = ["phases-strip", "exact-rates", "exact-latency"]
DRAWN = [*BY_ITSELF, *WITH_AXIS]

OUTSIDE = """
return Array.from(document.querySelectorAll('.chart svg.main-svg text')).filter(text => {
  const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
  return own.width > 0 && (own.left < all.left - 1 || own.right > all.right + 1 || own.bottom > all.bottom + 1);
}).map(text => text.textContent);
"""
OVERLAPS = """
const found = [];
for (const chart of document.querySelectorAll('.chart')) {
  const boxes = Array.from(chart.querySelectorAll('.xtick text, .ytick text, .legendtext'))
    .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const [a, b] = [boxes[i][1], boxes[j][1]];
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
      found.push(chart.id + ': ' + boxes[i][0] + ' / ' + boxes[j][0]);
  }
}
return found;
"""
PLOT_EDGES = """
return Array.from(document.querySelectorAll('.chart')).map(chart => {
  const size = chart._fullLayout._size;
  return [Math.round(chart.getBoundingClientRect().left + size.l), Math.round(size.w)];
});
"""
MIDDLE = (
    "return new Date((Date.parse(arguments[0]) + Date.parse(arguments[1])) / 2).toISOString().replace(/[TZ]/g, ' ')"
)
ZOOM = """
const range = {'xaxis.range[0]': arguments[0], 'xaxis.range[1]': arguments[1]};
Plotly.relayout(document.querySelector('.chart'), range).then(arguments[2]);
"""
RANGES = "return Array.from(document.querySelectorAll('.chart')).map(chart => chart._fullLayout.xaxis.range.join());"


@pytest.fixture(scope="module")
def page(archived: Archived, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, archived.start)
    assert main(["--run", str(folder), "--prometheus", archived.store.url]) == 0
    return folder / "report.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    profile = tmp_path_factory.mktemp("profile")
    with browser(need("chromium"), need("chromedriver"), profile) as found:
        yield found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1920])
def test_the_page_draws_everything_by_itself(
    chromium: Browser, page: Path, tmp_path: Path, width: int, theme: Literal["light", "dark"]
) -> None:
    chromium.open(page, width, theme)
    assert chromium.errors == []
    assert [url for url in chromium.requests if not url.startswith(("file:", "data:"))] == []
    assert traces(chromium) == dict.fromkeys(DRAWN, True)
    assert chromium.ask(OUTSIDE) == [], "text that is cut off"
    assert chromium.ask(OVERLAPS) == [], "texts that lie on each other"
    assert len({tuple(edges) for edges in chromium.ask(PLOT_EDGES)}) == 1, "time axes that do not line up"
    assert chromium.ask("return document.documentElement.scrollWidth <= window.innerWidth")
    ink, paper = chromium.ask(
        "const body = getComputedStyle(document.body);"
        "return [getComputedStyle(document.querySelector('.xtick text')).fill, body.backgroundColor];"
    )
    assert (brightness(ink) > brightness(paper)) == (theme == "dark")
    assert distinct_rows(chromium.whole_page(tmp_path / "page.png")) > 0.3


def test_the_reader_finds_run_verdict_figures_and_absences(chromium: Browser, page: Path) -> None:
    chromium.open(page, 1280, "light")
    said = chromium.ask("return document.body.innerText")
    for words in (
        "demo-20300101T000000-1a2b",
        "climb @120",
        "p99 <= 50ms",
        "95 % sure",
        "No GPU is measured on this machine.",
        "The annotation outbox could not reach Grafana",
        "one point every 5 s, rates over the 20 s before each point",
        *(panel.title for panel in BOARD.panels if panel.key in WITH_AXIS),
    ):
        assert words in said, words
    legends = chromium.ask("return Array.from(document.querySelectorAll('.legendtext')).map(text => text.textContent)")
    assert {"limit: p99 <= 50ms", "client p99", "TF Serving: UNAVAILABLE", "asked for", "loop_lag"} <= set(legends)
    labels = chromium.ask("return Array.from(document.querySelectorAll('.bartext')).map(text => text.textContent)")
    assert {"warm · warmup", "peak · steady", "peak @80"} <= set(labels)


def test_a_zoom_in_one_figure_is_a_zoom_in_all_and_the_theme_may_change_meanwhile(
    chromium: Browser, page: Path
) -> None:
    chromium.open(page, 1280, "light")
    (whole,) = set(chromium.ask(RANGES))
    begin, end = whole.split(",")
    middle = chromium.ask(MIDDLE, begin, end)
    chromium.driver.execute_async_script(ZOOM, begin, middle)
    chromium.wait(lambda: len(ranges := set(chromium.ask(RANGES))) == 1 and whole not in ranges)
    before = chromium.ask("return document.querySelector('.chart').layout.font.color")
    features = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    chromium.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    chromium.wait(lambda: chromium.ask("return document.querySelector('.chart').layout.font.color") != before)


def test_without_prometheus_the_page_still_tells_the_record(chromium: Browser, tmp_path: Path) -> None:
    write_run(tmp_path, 1_893_456_000)
    assert main(["--run", str(tmp_path)]) == 0
    chromium.errors.clear()
    chromium.open(tmp_path / "report.html", 1280, "light")
    assert chromium.errors == []
    assert traces(chromium) == dict.fromkeys(BY_ITSELF, True)
    said = chromium.ask("return document.body.innerText")
    assert said.count("no Prometheus was given") == len(WITH_AXIS) + len(UNMEASURED) + 1
    assert "climb @120: p99 is" in said


def traces(page: Browser) -> dict[str, bool]:
    """Figure to whether every trace in it has been drawn."""
    found: dict[str, bool] = page.ask(
        "return Object.fromEntries(Array.from(document.querySelectorAll('.chart')).map(chart => [chart.id.slice(6),"
        " chart.querySelectorAll('.trace, .hm image, .bars .point').length > 0"
        " && chart._fullData.length > 0 && chart._fullData.every(trace => trace.visible === true)]));"
    )
    return found


def brightness(colour: str) -> int:
    """Of a CSS `rgb(r, g, b)`."""
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])


def distinct_rows(png: bytes) -> float:
    """Share of the picture's rows that differ from each other; a blank page has next to none."""
    at, data, height = 8, b"", 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IHDR":
            height = struct.unpack(">II", png[at + 8 : at + 16])[1]
        if kind == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    raw = zlib.decompress(data)
    row = len(raw) // height
    return len({raw[start : start + row] for start in range(0, len(raw), row)}) / height
