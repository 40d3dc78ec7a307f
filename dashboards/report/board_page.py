"""A board as one HTML page by our own renderer, for where there is no Grafana: same panels, same queries, same grid."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.resources import files

from plotly import graph_objects as go
from plotly.offline import get_plotlyjs

from dashboards.board import Board
from dashboards.panel import Kind, Panel
from dashboards.report import moment
from dashboards.report.markup import Markup, element, text
from dashboards.report.page import FONT, POLICY
from dashboards.report.picture import Drawn, figure, iso
from dashboards.report.series import Answers, Line

COLUMNS = 24
NARROWEST = 1100
"""Pixels of a board's plots at the narrowest width that it is meant for."""

LETTER, LEGEND_MARK, LEGEND_ROW, AXIS_ROOM, AXIS_TITLE, USUAL_ROOM = 7, 50, 19, 28, 24, 50
"""Pixels, of text at 11 points."""

SAID = "Drawn by Stagelight's own renderer, not by Grafana, from the series of a real run. Times are UTC."


def render_board(board: Board, answers: Answers) -> str:
    """The page; `answers` to all kinds of panels, their last instant is what counts as now."""
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        element("title", text(board.title)),
        element("style", Markup(_file("page.css") + _file("board_page.css"))),
    )
    body = element(
        "body",
        element("h1", text(board.title)),
        element("p", text(f"{board.description} {SAID}"), cls="said"),
        element("div", *_rows(board, answers), cls="board"),
        element("script", Markup(get_plotlyjs())),
        element("script", Markup(_file("page.js"))),
    )
    return "<!doctype html>\n" + element("html", head, body, lang="en") + "\n"


def _rows(board: Board, answers: Answers) -> Iterator[Markup]:
    for row in board.rows:
        yield element("h2", text(row.title))
        for panel in row.panels:
            yield element(
                "article",
                element("h3", text(panel.title), title=panel.description),
                _content(panel, answers),
                cls="panel",
                id=panel.key,
                style=f"grid-column: span {panel.width}",
            )


def _content(panel: Panel, answers: Answers) -> Markup:
    found = ((query, answers.to(panel.key, query.ref)) for query in panel.queries)
    drawn = [Drawn(query, answer.lines) for query, answer in found if answer and any_number(answer.lines)]
    if panel.kind is Kind.STAT:
        return moment.stat(panel, drawn)
    if not drawn:
        reasons = dict.fromkeys(query.may_be_empty for query in panel.queries if query.may_be_empty)
        return element("p", text(" ".join([panel.no_value.capitalize() + ".", *map(str, reasons)])), cls="absent")
    match panel.kind:
        case Kind.TABLE:
            return moment.rows(panel, drawn)
        case Kind.STATES:
            return _chart(panel, moment.states(panel, drawn, answers.grid), answers)
        case Kind.POINTS:
            return _chart(panel, moment.points(panel, drawn), None)
        case _:
            return _chart(panel, figure(panel, drawn, answers.grid), answers)


def any_number(lines: tuple[Line, ...]) -> bool:
    """Whether any of the series has a value at any time."""
    return any(value is not None for line in lines for value in line.values)


def _chart(panel: Panel, made: go.Figure, answers: Answers | None) -> Markup:
    made.update_layout(template="none", font={"family": FONT, "size": 11})
    _make_room(made, panel)
    if answers:
        made.update_xaxes(range=[iso(answers.start), iso(answers.end)])
    body = json.loads(made.to_json())
    script = json.dumps({"data": body["data"], "layout": body["layout"]}, ensure_ascii=False, allow_nan=False)
    data = element("script", Markup(script.replace("<", "\\u003c")), type="application/json", id=f"figure-{panel.key}")
    chart = element("div", cls="chart", id=f"chart-{panel.key}", data_figure=f"figure-{panel.key}")
    return element("div", chart, element("div", cls="cursor"), data, cls="box")


def _make_room(made: go.Figure, panel: Panel) -> None:
    """Below the plot, for as many rows as the legend will have: plotly lets it cover the axis otherwise."""
    names = [trace.name for trace in made.data if trace.name and trace.showlegend is not False]
    if not names or panel.kind is Kind.HEATMAP:
        return
    each = LEGEND_MARK + LETTER * max(len(name) for name in names)
    rows = math.ceil(len(names) / max(1, int(NARROWEST * panel.width / COLUMNS // each)))
    room = AXIS_ROOM + LEGEND_ROW * rows + (AXIS_TITLE if panel.kind is Kind.POINTS else 0)
    made.update_layout(margin={"b": room}, height=(made.layout.height or 0) + max(0, room - USUAL_ROOM))


def _file(name: str) -> str:
    return (files(__package__) / name).read_text()
