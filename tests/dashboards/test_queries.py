"""What the queries of the panels say, read as text: names, labels, windows, legends."""

from __future__ import annotations

import re

import pytest

from dashboards import recorded, tfserving
from dashboards.board import Board
from dashboards.catalog import BOARDS
from dashboards.panel import Kind, Panel
from dashboards.queries import allowed_empty
from tests.dashboards.known import metric_of, selectors
from tests.prometheus import files

every_board = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
every_panel = pytest.mark.parametrize(
    "panel", [panel for board in BOARDS for panel in board.panels], ids=lambda panel: panel.key
)


ARITHMETIC = {"compare-apart"}
"""Panels that show a number of Grafana's own, not a series."""


@every_panel
def test_queries_have_their_own_ref_and_a_legend(panel: Panel) -> None:
    refs = [query.ref for query in panel.queries]
    assert refs
    assert len(refs) == len(set(refs))
    legends = [query.legend for query in panel.queries]
    assert all(legends)
    assert len(legends) == len(set(legends))
    for query in panel.queries:
        assert query.style.band_from is None or query.style.band_from in legends
    if panel.kind is Kind.HEATMAP:
        assert legends == ["{{le}}"]


@every_panel
def test_legend_labels_survive_the_aggregation(panel: Panel) -> None:
    for query in panel.queries:
        for label in re.findall(r"{{(\w+)}}", query.legend):
            kept = re.findall(r" by \(([^)]*)\)", query.expr)
            assert any(label in labels.split(", ") for labels in kept), (panel.key, query.ref, label)


@every_panel
def test_metrics_exist_in_code_and_carry_the_labels_asked_for(panel: Panel) -> None:
    for query in panel.queries:
        names = selectors(query.expr)
        assert names or panel.key in ARITHMETIC
        for name in names:
            assert metric_of(name) is not None, f"{panel.key} {query.ref}: {name} is defined nowhere"
        for name, inside in re.findall(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}", query.expr):
            metric = metric_of(name)
            assert metric is not None
            for label in re.findall(r"(\w+)(?:=|!=|=~|!~)\"", inside):
                assert label in (*metric.labels, "instance", "job"), (panel.key, name, label)


WINDOWS = {"$__rate_interval", "$__interval", "$__range:$__interval", "$__range:30s"}
COUNTED_WHOLE = {
    f"{tfserving.LOADS.name}",
    f"{tfserving.LOAD_TIME.name}",
    f"{tfserving.WARMUP.name}_sum",
}
"""Rare events: their total says more than a rate that is nearly always zero."""


@every_panel
def test_counters_are_read_as_rates_over_grafanas_window(panel: Panel) -> None:
    for query in panel.queries:
        assert set(re.findall(r"rate\([^\[\]]*\[([^\]]*)\]", query.expr)) <= {"$__rate_interval"}
        assert set(re.findall(r"\[([^\]]*)\]", re.sub(r'"[^"]*"', "", query.expr))) <= WINDOWS
        for name in selectors(query.expr):
            metric = metric_of(name)
            assert metric
            if metric.kind in ("counter", "histogram"):
                bare = query.expr.replace(f" offset {'$__rate_interval'}", "")
                for before in re.findall(rf"(\S*){re.escape(name)}\b", bare):
                    whole = panel.kind in (Kind.STAT, Kind.TABLE) or name in COUNTED_WHOLE
                    assert before.endswith("rate(") or " unless " in query.expr or whole, (panel.key, query.ref, name)
        averaged = re.findall(r"avg\w*(?: by \([^)]*\))?\s*\((\w*:\w+:\w+|)", query.expr)
        assert all(name.endswith(":rate30s") for name in averaged), "quantiles and ratios are never averaged"


@every_panel
def test_tf_serving_latency_leaves_status_requests_out(panel: Panel) -> None:
    for query in panel.queries:
        for inside in re.findall(rf"{tfserving.REQUEST_LATENCY.name}_\w+\{{([^}}]*)\}}", query.expr):
            assert 'API!=""' in inside


@every_board
def test_every_server_quantile_shows_its_bucket_and_stands_beside_the_failures(board: Board) -> None:
    for panel in board.panels:
        for query in panel.queries:
            if re.search(r":tfserving_\w+:histogram_quantile", query.expr) and "ceil(ln(" not in query.expr:
                legends = {other.legend for other in panel.queries}
                assert {f"{query.legend}: bucket from", f"{query.legend}: bucket to"} <= legends
                assert any("status" in other.legend for beside in board.panels for other in beside.queries)


def test_a_recorded_name_is_made_by_a_rule() -> None:
    assert {metric.name for metric in recorded.ALL} <= files.recordings()


def test_only_queries_with_a_reason_may_be_empty() -> None:
    for board in BOARDS:
        for reason in allowed_empty(board).values():
            assert reason.endswith(".")
