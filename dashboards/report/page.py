"""The whole report as one HTML text: words and tables from the record, figures from the panels' series."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from plotly import graph_objects as go
from plotly.offline import get_plotlyjs

from dashboards.board import Board
from dashboards.panel import Kind, Panel, Query
from dashboards.panels import client
from dashboards.report import exact, limits, tables, wording
from dashboards.report.exact import Seconds
from dashboards.report.markup import Markup, element, text, together
from dashboards.report.picture import Drawn, figure, iso
from dashboards.report.record import Run
from dashboards.report.series import Answer, Answers
from dashboards.report.strip import shades, strip

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
"""The browser itself keeps the page from asking the network for anything."""

FONT = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', sans-serif"

PADDING = 0.02
"""Share of the run's length that the time axis shows before and after it."""

SILENT = "Prometheus has no such series for this run, though it should: was the component scraped?"


def render_report(run: Run, board: Board, seconds: Seconds | None, answers: Answers | None, why_not: str) -> str:
    """The page. `answers` None: no series at all, and `why_not` is the reason that every panel shows."""
    words = (
        element("h1", text(f"{run.plan.name}: load test report")),
        tables.verdict(run),
        _section("Objectives", tables.objectives(run)),
        _section(
            "Latency of every measured window", tables.latencies(run), _note(LATENCY_NOTE), *limits.distortion(run)
        ),
        _section("Requests of every measured window", tables.requests(run)),
        _section("The generator's own limits", limits.disturbances(run), _note(limits.NOTE)),
        _section("How many requests took how long", tables.shares(run), _note(SHARES_NOTE)),
        element(
            "section",
            element("h2", text("On one time axis")),
            _note(AXIS_NOTE),
            _charts(run, board, seconds, answers, why_not),
        ),
        _section("Notes", tables.notes(run)),
        _section("How each number was measured", *_methods(run, answers, why_not)),
        _details("Timetable: planned and acknowledged", tables.timetable(run)),
        _details("Checks before the run", tables.findings(run)),
        _details("Fingerprint: target, workload, hardware, tools", tables.fingerprint(run)),
        element("footer", text(f"Run {run.run_id}, ended {wording.instant(run.ended)}. This file needs no network.")),
    )
    return "<!doctype html>\n" + element("html", _head(run), element("body", *words, *_scripts()), lang="en") + "\n"


LATENCY_NOTE = (
    "From the generator's exact record, not from the figures below. Small print: the truth lies there with 95 % "
    "confidence. A quantile needs at least ten requests beyond it; fewer, and it is not shown."
)
SHARES_NOTE = "Of all requests that were answered well or timed out; a time-out counts as taking longest."
EXACT_NOTE = "Counted by the generator for every request, by the second in which it ended; no buckets, no scrapes."
AXIS_NOTE = (
    "Drag sideways in any figure to zoom all of them, double-click to see the whole run again. Shades are phases. "
    "Times are UTC."
)


def _head(run: Run) -> Markup:
    style = (files(__package__) / "page.css").read_text()
    return element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", text(f"{run.plan.name}: {run.verdict.ruling}")),
        element("style", Markup(style)),
    )


def _scripts() -> Iterator[Markup]:
    yield element("script", Markup(get_plotlyjs()))
    yield element("script", Markup((files(__package__) / "page.js").read_text()))


def _section(title: str, *content: Markup) -> Markup:
    return element("section", element("h2", text(title)), *content)


def _details(title: str, content: Markup) -> Markup:
    return element("details", element("summary", text(title)), content)


def _note(words: str) -> Markup:
    return element("p", text(words), cls="asks")


def _charts(run: Run, board: Board, seconds: Seconds | None, answers: Answers | None, why_not: str) -> Markup:
    start, end = run.span
    padding = max(2.0, PADDING * (end - start))
    axis = [iso(start - padding), iso(end + padding)]
    parts = [element("div", _chart("phases-strip", strip(run), axis, []), cls="sticky")]
    for panel in board.panels:
        if panel.key == client.LATENCY.key:
            parts.extend(_exact(run, seconds, axis))
        if panel.kind in (Kind.LINES, Kind.HEATMAP):
            parts.append(_panel(panel, run, answers, why_not, axis))
    return element("div", *parts, cls="charts")


def _exact(run: Run, seconds: Seconds | None, axis: list[str]) -> Iterator[Markup]:
    """The client's own seconds, which are there without Prometheus too; below the load, beside the client's latency."""
    if seconds is None:
        yield element("p", text("The run's folder holds no seconds.csv, so there are no figures of single seconds."))
        return
    for key, title, made in (
        ("exact-rates", "Exact record: answers per second", exact.rates(seconds)),
        ("exact-latency", "Exact record: p50 and p99 of each second", exact.latencies(seconds)),
    ):
        head = together(element("h3", text(title)), element("p", text(EXACT_NOTE), cls="asks"))
        yield element("article", head, _chart(key, made, axis, shades(run)), cls="panel", id=key)


def _panel(panel: Panel, run: Run, answers: Answers | None, why_not: str, axis: list[str]) -> Markup:
    drawn, missing = _found(panel, answers, why_not)
    head = together(element("h3", text(panel.title)), element("p", text(panel.description), cls="asks"))
    if not drawn or answers is None:
        reasons = element("ul", *(element("li", text(reason)) for reason in dict.fromkeys(missing.values())))
        absent = element("div", text("Nothing to draw:"), reasons, cls="absent")
        return element("article", head, absent, cls="panel", id=panel.key)
    made = figure(panel, drawn, answers.grid)
    left_out = (f"not drawn: {legend}. {reason}" for legend, reason in missing.items())
    notes = (element("p", text(words), cls="missing") for words in left_out)
    return element("article", head, _chart(panel.key, made, axis, shades(run)), *notes, cls="panel", id=panel.key)


def _found(panel: Panel, answers: Answers | None, why_not: str) -> tuple[list[Drawn], dict[str, str]]:
    """What there is to draw, and for each query's legend without series the reason."""
    drawn: list[Drawn] = []
    missing: dict[str, str] = {}
    for query in panel.queries:
        answer = answers.to(panel.key, query.ref) if answers else None
        reason = _why_empty(query, answer) if answers else why_not
        if reason is None and answer:
            drawn.append(Drawn(query, answer.lines))
        elif reason and query.style.in_legend:
            missing[query.legend] = reason
    return drawn, missing


def _why_empty(query: Query, answer: Answer | None) -> str | None:
    """Why the query has nothing to draw; None if it has."""
    if answer is None or answer.query != query.expr:
        return "The panel is newer than the kept series: give --prometheus to fetch them again."
    if answer.failure:
        return answer.failure
    if any(value is not None for line in answer.lines for value in line.values):
        return None
    return query.may_be_empty or SILENT


def _chart(key: str, made: go.Figure, axis: list[str], shapes: list[dict[str, Any]]) -> Markup:
    made.layout.shapes = [*shapes, *made.layout.shapes]
    made.update_layout(template="none", font={"family": FONT, "size": 12})
    made.update_xaxes(range=axis)
    body = json.loads(made.to_json())
    script = json.dumps({"data": body["data"], "layout": body["layout"]}, ensure_ascii=False, allow_nan=False)
    data = element("script", Markup(script.replace("<", "\\u003c")), type="application/json", id=f"figure-{key}")
    chart = element("div", cls="chart", id=f"chart-{key}", data_figure=f"figure-{key}")
    return together(element("div", chart, element("div", cls="cursor"), cls="box"), data)


LATENCY_METHOD = (
    "Latency of windows, shares and verdict: the duration of every request from its actual send to the end of its "
    "answer, counted in the process that sent it. Time-outs count as long as they were waited for; other failures are "
    "in the ratios, never in latency. Quantiles: "
)
RATIO_METHOD = "Ratios: of all requests sent inside the window that ended, in whatever outcome."
SERVER_METHOD = (
    "TF Serving's figures: from its own histograms, which hold successful requests only and whose bounds grow by 1.8 "
    "(batch queue: 1.2). A quantile from them is shown with the bucket that it lies in."
)


def _methods(run: Run, answers: Answers | None, why_not: str) -> Iterator[Markup]:
    said = [LATENCY_METHOD + f"{run.method}.", RATIO_METHOD, SERVER_METHOD]
    if answers:
        said.append(
            f"Figures: from {answers.source}, one point every {answers.step:g} s, rates over the {answers.window:g} s "
            "before each point. So a change shows within that time, not at once."
        )
    else:
        said.append(f"Figures: none, because {why_not}")
    yield element("ul", *(element("li", text(words)) for words in said))
