"""What types cannot see, asked of every board as data and of its finished JSON."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.board import TAG, Board, Row
from dashboards.boards import HEALTH
from dashboards.catalog import BOARDS
from dashboards.grafana.layout import COLUMNS, Place, above_the_fold, lay_out
from dashboards.grafana.render import PROVISIONED_UID, render
from dashboards.panel import Kind, Panel, Unit
from exporters.loadgen_limits import LIMITS
from exporters.names import loadgen

ROOT = Path(__file__).parents[2]
PROVISIONING = ROOT / "compose" / "grafana" / "provisioning"

GRAFANA_UNITS = {
    *(
        "s",
        "ms",
        "µs",
        "dthms",
        "dateTimeAsIso",
        "reqps",
        "ops",
        "percentunit",
        "short",
        "none",
        "bytes",
        "Bps",
        "watt",
    ),
    *("joule", "celsius", "hertz"),
}
"""Ids out of Grafana's list of units that a board may use; another one must be looked up there before it is added."""

GRAFANA_REDUCERS = {"lastNotNull", "last", "max", "min", "mean", "sum", "count", "range", "delta"}
GRAFANA_TRANSFORMATIONS = {
    *("organize", "merge", "reduce", "joinByField", "filterFieldsByName", "sortBy", "partitionByValues"),
}

every_board = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
every_panel = pytest.mark.parametrize(
    "panel", [panel for board in BOARDS for panel in board.panels], ids=lambda panel: panel.key
)


def test_uids_titles_and_panel_keys_are_unique() -> None:
    for values in ([b.uid for b in BOARDS], [b.title for b in BOARDS]):
        assert len(values) == len(set(values))
    panels = {panel.key: panel for board in BOARDS for panel in board.panels}
    ids = {panel.id for panel in panels.values()}
    assert len(ids) == len(panels)


@every_board
def test_ids_are_unique_on_the_board_and_the_uid_fits_grafana(board: Board) -> None:
    ids = [row.id for row in board.rows] + [panel.id for panel in board.panels]
    assert len(ids) == len(set(ids))
    assert re.fullmatch(r"stagelight-[a-z-]{1,29}", board.uid)


@every_board
def test_nothing_overlaps_or_leaves_the_grid(board: Board) -> None:
    places = lay_out(board)
    for place in places:
        assert place.x >= 0
        assert place.w > 0
        assert place.x + place.w <= COLUMNS
        assert place.h > 0
    opened = [place for place in places if isinstance(place.item, Row) or place.item in board.opened]
    closed = [[place for place in places if place.item in row.panels] for row in board.rows if not row.opened]
    for together in (opened, *closed):
        for one, other in combinations(together, 2):
            beside = one.x + one.w <= other.x or other.x + other.w <= one.x
            assert beside or one.y + one.h <= other.y or other.y + other.h <= one.y, (one.item.title, other.item.title)


@every_board
def test_time_graphs_are_as_wide_as_the_board_so_that_their_axes_line_up(board: Board) -> None:
    """Or half as wide, two to a line: then the axes of each column line up."""
    assert {p.width for p in board.panels if p.kind is not Kind.STAT} <= {COLUMNS, COLUMNS // 2}
    lines: dict[tuple[int, int], list[Place]] = {}
    row = 0
    for place in lay_out(board):
        if isinstance(place.item, Row):
            row = place.item.id
        elif place.item.kind is not Kind.STAT:
            lines.setdefault((row, place.y), []).append(place)
    for beside in lines.values():
        assert len({place.h for place in beside}) == 1, [place.item.title for place in beside]


@every_board
def test_a_board_stays_within_what_a_person_can_watch(board: Board) -> None:
    stats = [panel for panel in board.opened if panel.kind is Kind.STAT]
    graphs = [panel for panel in board.opened if panel.kind is not Kind.STAT]
    assert len(stats) <= 8
    assert len(graphs) <= 16
    assert sum(len(panel.queries) for panel in above_the_fold(board)) <= 20


@every_board
def test_a_closed_row_holds_its_panels_itself_so_that_they_ask_nothing(board: Board) -> None:
    shown = render(board)["panels"]
    assert {p["id"] for p in shown if p["type"] != "row"} == {panel.id for panel in board.opened}
    for row, wanted in zip((p for p in shown if p["type"] == "row"), board.rows, strict=True):
        assert row["collapsed"] is not wanted.opened
        assert [p["id"] for p in row["panels"]] == ([] if wanted.opened else [panel.id for panel in wanted.panels])


def test_every_signal_of_the_generator_has_its_panel_with_its_limit_and_what_to_do() -> None:
    panels = {panel.title.partition(":")[0]: panel for panel in HEALTH.panels if panel.key.startswith("signal-")}
    assert set(panels) == set(loadgen.SIGNALS)
    for signal, limit in LIMITS.items():
        assert limit.remedy in panels[signal].bad
        assert limit.measures in panels[signal].question
        assert any(f'{loadgen.SIGNAL_LIMIT.name}{{signal="{signal}"' in query.expr for query in panels[signal].queries)


def test_every_reading_of_the_generator_is_on_a_board() -> None:
    asked = " ".join(query.expr for panel in HEALTH.panels for query in panel.queries)
    assert {metric.name for metric in loadgen.READINGS if metric.name not in asked} == set()


@every_panel
def test_a_panel_says_what_it_asks_and_what_is_bad(panel: Panel) -> None:
    assert "?" in panel.question
    assert panel.bad.endswith(".")
    assert panel.bad[0].islower() or panel.bad[0].isdigit() or panel.bad.startswith(("CPU", "p99"))
    assert panel.title
    assert len(panel.title) <= 80
    assert panel.no_value


@every_panel
def test_units_are_grafanas(panel: Panel) -> None:
    assert panel.unit.value in GRAFANA_UNITS
    named = panel.labels or panel.states or panel.columns
    assert panel.unit is not Unit.PLAIN or named, "a panel of numbers needs a unit"
    assert {column.unit.value for column in panel.columns} <= GRAFANA_UNITS
    assert panel.x_unit.value in GRAFANA_UNITS


@every_board
def test_the_json_leaves_nothing_to_the_installation(board: Board) -> None:
    text = json.dumps(render(board))
    for bad in ("__inputs", "${DS_", "intervalFactor", '"null"', "null}"):
        assert bad not in text.replace('"value": null}', "")
    document = render(board)
    assert document["uid"] == board.uid
    assert document["editable"] is False
    assert document["tags"] == [TAG]
    assert document["graphTooltip"] == 1
    assert document["schemaVersion"] >= 42
    assert "id" not in document


@every_board
def test_reducers_and_transformations_are_grafanas(board: Board) -> None:
    for panel in every_panel_of(render(board)):
        options = panel.get("options", {})
        reducers = {*options.get("reduceOptions", {}).get("calcs", []), *options.get("legend", {}).get("calcs", [])}
        assert reducers <= GRAFANA_REDUCERS
        assert {item["id"] for item in panel.get("transformations", [])} <= GRAFANA_TRANSFORMATIONS
        assert panel["type"] != "stat" or reducers == {"lastNotNull"}


@every_board
def test_every_data_source_is_the_variable_that_the_provisioning_file_fills(board: Board) -> None:
    document = render(board)
    refs = [node["datasource"] for node in walk(document) if "datasource" in node]
    assert {json.dumps(ref, sort_keys=True) for ref in refs} == {
        '{"type": "prometheus", "uid": "${datasource}"}',
        '{"type": "grafana", "uid": "-- Grafana --"}',
    }
    variable = document["templating"]["list"][0]
    assert (variable["name"], variable["type"], variable["label"]) == ("datasource", "datasource", "Data source")
    (source,) = yaml.safe_load((PROVISIONING / "datasources" / "prometheus.yml").read_text())["datasources"]
    assert source["uid"] == PROVISIONED_UID == variable["current"]["value"]
    assert source["type"] == "prometheus"
    assert source["editable"] is False


@every_board
def test_variables_take_one_or_many_or_none(board: Board) -> None:
    for variable, own in zip(render(board)["templating"]["list"][1:], board.variables, strict=True):
        assert (variable["multi"], variable["includeAll"]) == (own.many, own.many)
        assert variable.get("allValue") == (".+" if own.many else None)
        assert variable["refresh"] == 2
    expressions = [query.expr for panel in board.panels for query in panel.queries]
    expressions += [variable.values for variable in board.variables]
    used = {name for expr in expressions for name in re.findall(r'=~"\$(\w+)"|\$\{(\w+)\}s?', expr)}
    assert {first or second for first, second in used} == {variable.name for variable in board.variables}
    for panel in board.panels:
        for query in panel.queries:
            assert not re.search(r'[^~]"\$', query.expr), "a variable with many values needs =~"


def test_provisioning_is_read_only_holds_no_secret_and_polls() -> None:
    (provider,) = yaml.safe_load((PROVISIONING / "dashboards" / "stagelight.yml").read_text())["providers"]
    assert provider["allowUiUpdates"] is False
    assert provider["updateIntervalSeconds"] > 10
    assert provider["options"]["path"] == "$STAGELIGHT_DASHBOARDS"
    (source,) = yaml.safe_load((PROVISIONING / "datasources" / "prometheus.yml").read_text())["datasources"]
    assert source["url"] == "$STAGELIGHT_PROMETHEUS_URL"
    assert not {"secureJsonData", "basicAuthUser", "password", "user"} & set(source)
    assert source["jsonData"]["timeInterval"] == scrape_interval()
    assert source["jsonData"]["queryTimeout"] == "30s"
    assert source["jsonData"]["exemplarTraceIdDestinations"] == [], "no exemplar is published; no target asks for one"
    targets = [
        target for board in BOARDS for panel in every_panel_of(render(board)) for target in panel.get("targets", ())
    ]
    assert {target["exemplar"] for target in targets} == {False}


def scrape_interval() -> str:
    """Of the configuration that the data source's interval must be equal to."""
    interval: str = yaml.safe_load((ROOT / "prometheus" / "prometheus.yml").read_text())["global"]["scrape_interval"]
    return interval


def every_panel_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Those inside closed rows as well."""
    return [each for panel in document["panels"] for each in (panel, *panel.get("panels", ()))]


def walk(node: Any) -> list[dict[str, Any]]:
    """Every object inside a document."""
    if isinstance(node, dict):
        return [node, *(found for value in node.values() for found in walk(value))]
    return [found for value in node for found in walk(value)] if isinstance(node, list) else []
