"""What the queries of the panels say, read as text: names, labels, windows, legends."""

from __future__ import annotations

import re

import pytest

from controller.names import ALL as LOADTEST
from dashboards import tfserving
from dashboards.board import Board
from dashboards.catalog import BOARDS
from dashboards.panel import Kind, Panel
from dashboards.queries import allowed_empty
from exporters.metric import Metric
from exporters.names import gpu, host, loadgen

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (*LOADTEST, *loadgen.ALL, *host.ALL, *gpu.ALL, *tfserving.ALL)
}

every_board = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
every_panel = pytest.mark.parametrize(
    "panel", [panel for board in BOARDS for panel in board.panels], ids=lambda panel: panel.key
)


def selectors(expr: str) -> set[str]:
    """Metric names in an expression: the words outside braces and strings that are neither calls nor PromQL's own."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|by \([^)]*\)|\$\w+', " ", expr)
    return set(re.findall(r"(?<![\w:.])([a-zA-Z_:][\w:]*)(?![\w:]|\s*\()", bare)) - {"or", "and", "unless", "offset"}


def metric_of(name: str) -> Metric | None:
    """The metric that a series belongs to."""
    if name in METRICS:
        return METRICS[name] if METRICS[name].kind != "histogram" else None
    base, _, part = name.rpartition("_")
    found = METRICS.get(base)
    return found if found and found.kind == "histogram" and part in ("bucket", "sum", "count") else None


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
        assert names
        for name in names:
            assert metric_of(name) is not None, f"{panel.key} {query.ref}: {name} is defined nowhere"
        for name, inside in re.findall(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}", query.expr):
            metric = metric_of(name)
            assert metric is not None
            for label in re.findall(r"(\w+)(?:=|!=|=~|!~)\"", inside):
                assert label in (*metric.labels, "instance"), (panel.key, name, label)


@every_panel
def test_counters_are_read_as_rates_over_grafanas_window(panel: Panel) -> None:
    for query in panel.queries:
        assert set(re.findall(r"\[([^\]]*)\](?=\))", query.expr)) <= {"$__rate_interval"}
        for name in selectors(query.expr):
            metric = metric_of(name)
            assert metric
            if metric.kind in ("counter", "histogram"):
                bare = query.expr.replace(f" offset {'$__rate_interval'}", "")
                for before in re.findall(rf"(\S*){re.escape(name)}\b", bare):
                    assert before.endswith("rate(") or " unless " in query.expr, (panel.key, query.ref, name)
        assert "avg" not in query.expr, "quantiles and ratios are never averaged"


@every_panel
def test_tf_serving_latency_leaves_status_requests_out(panel: Panel) -> None:
    for query in panel.queries:
        for inside in re.findall(rf"{tfserving.REQUEST_LATENCY.name}_\w+\{{([^}}]*)\}}", query.expr):
            assert 'API!=""' in inside


@every_board
def test_every_server_quantile_shows_its_bucket_and_stands_beside_the_failures(board: Board) -> None:
    found = 0
    for panel in board.panels:
        for query in panel.queries:
            if "histogram_quantile" in query.expr and ":tensorflow:" in query.expr and "ceil(ln(" not in query.expr:
                legends = {other.legend for other in panel.queries}
                assert {f"{query.legend}: bucket from", f"{query.legend}: bucket to"} <= legends
                found += 1
    assert found > 0
    assert any("status" in query.legend for panel in board.panels for query in panel.queries)


def test_only_queries_with_a_reason_may_be_empty() -> None:
    for board in BOARDS:
        for reason in allowed_empty(board).values():
            assert reason.endswith(".")
