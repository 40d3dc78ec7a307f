"""A board as Grafana's dashboard JSON: panels, variables, phases as regions, links between boards."""

from __future__ import annotations

import json
from typing import Any

from grafanalib import core
from grafanalib._gen import DashboardEncoder

from controller import names as loadtest
from dashboards import palette
from dashboards.board import TAG, Board, Row, Variable
from dashboards.grafana.drawing import DATA_SOURCE, draw
from dashboards.grafana.layout import lay_out
from dashboards.grafana.modernize import modernize
from dashboards.promql import EVERYTHING, scale, series
from dashboards.variables import DATASOURCE, OF_PLAN, RUN

PROVISIONED_UID = "prometheus"
"""The uid that the provisioning file gives the data source; the variable starts with it."""

PHASE_TAG = "run-phase"
TROUBLE_TAG = "disturbance"
BEFORE_LOAD = "preflight"
"""The one phase that is over before the timetable starts: it has no slot, so no region."""

REGIONS = 1000
"""Regions that Grafana may draw of one phase; beyond it drops the oldest without a word."""

RELOAD_ON_TIME_CHANGE = 2
SHOWN, HIDDEN = 0, 2
BY_NAME, NEWEST_FIRST = 1, 2
"""Grafana's numbers; run ids hold their time, so that falling order of names has the newest first within a plan."""


def render(board: Board) -> dict[str, Any]:
    """The whole document; equal boards give equal documents."""
    dashboard = core.Dashboard(
        title=board.title,
        uid=board.uid,
        description=board.description,
        tags=[TAG],
        timezone="utc",
        editable=False,
        refresh="5s",
        time=core.Time("now-30m", "now"),
        timePicker=core.TimePicker(refreshIntervals=["5s", "10s", "30s", "1m", "5m"], timeOptions=[], hidden=False),
        templating=core.Templating(list=[_datasource(), *(_variable(variable) for variable in board.variables)]),
        annotations=core.Annotations(list=layers()),
        links=[core.DashboardLink(title="Stagelight", tags=[TAG], asDropdown=True, includeVars=True, keepTime=True)],
        panels=_panels(board),
    )
    document: dict[str, Any] = json.loads(json.dumps(dashboard.to_json_data(), cls=DashboardEncoder))
    return modernize(document)


def text(board: Board) -> str:
    """The document as the file holds it: sorted keys, so that a change of one panel is a change of few lines."""
    return json.dumps(render(board), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def layers() -> list[dict[str, Any]]:
    """Manual notes, then from Grafana's own store one layer a phase and one of what disturbed the generator, then the
    phases from the metrics, switched off."""
    regions = (_phase_layer(phase, colour) for phase, colour in palette.PHASES.items() if phase != BEFORE_LOAD)
    return [_notes(), *regions, _trouble_layer(), _metric_layer()]


def _notes() -> dict[str, Any]:
    return {
        "builtIn": 1,
        "datasource": {"type": "grafana", "uid": "-- Grafana --"},
        "enable": True,
        "hide": True,
        "iconColor": palette.DEAD,
        "name": "Annotations & Alerts",
        "type": "dashboard",
    }


def _phase_layer(phase: str, colour: str) -> dict[str, Any]:
    return {
        "datasource": {"type": "grafana", "uid": "-- Grafana --"},
        "enable": True,
        "hide": False,
        "iconColor": colour,
        "name": phase,
        "target": {
            "limit": REGIONS,
            "matchAny": False,
            "refId": f"phase-{phase}",
            "tags": [PHASE_TAG, f"phase:{phase}"],
            "type": "tags",
        },
    }


def _trouble_layer() -> dict[str, Any]:
    """What disturbed the generator while a run was on."""
    return {
        "datasource": {"type": "grafana", "uid": "-- Grafana --"},
        "enable": True,
        "hide": False,
        "iconColor": palette.BAD,
        "name": TROUBLE_TAG,
        "target": {
            "limit": REGIONS,
            "matchAny": False,
            "refId": TROUBLE_TAG,
            "tags": ["stagelight", TROUBLE_TAG],
            "type": "tags",
        },
    }


def phase_starts() -> str:
    """The expression behind the metrics' layer: start of each slot in milliseconds, as Grafana wants it."""
    return scale(series(loadtest.SLOT_START, OF_PLAN), 1000)


def _metric_layer() -> dict[str, Any]:
    return {
        "datasource": DATA_SOURCE,
        "enable": False,
        "expr": phase_starts(),
        "hide": False,
        "iconColor": palette.TEAL,
        "name": "starts, from metrics",
        "step": "5s",
        "tagKeys": "stage,phase",
        "textFormat": "{{stage}}",
        "titleFormat": "{{phase}}",
        "useValueForTime": "on",
    }


def _panels(board: Board) -> list[core.Panel]:
    """Rows and panels in one list; a closed row holds its panels itself."""
    found: list[core.Panel] = []
    row = None
    for place in lay_out(board):
        match place.item:
            case Row(id, title, _, opened):
                spot = core.GridPos(h=place.h, w=place.w, x=place.x, y=place.y)
                row = core.RowPanel(id=id, title=title, gridPos=spot, collapsed=not opened, panels=[])
                found.append(row)
            case panel if row is not None and row.collapsed:
                row.panels.append(draw(panel, place))
            case panel:
                found.append(draw(panel, place))
    return found


def _datasource() -> core.Template:
    variable = core.Template(
        name=DATASOURCE, label="Data source", type="datasource", query="prometheus", default=PROVISIONED_UID
    )
    variable._current = {"text": "Prometheus", "value": PROVISIONED_UID}
    return variable


def _variable(variable: Variable) -> core.Template:
    return core.Template(
        name=variable.name,
        label=variable.label,
        query=variable.values,
        dataSource=DATA_SOURCE,
        allValue=EVERYTHING if variable.many else None,
        includeAll=variable.many,
        multi=variable.many,
        regex=variable.regex or None,
        hide=HIDDEN if variable.hidden else SHOWN,
        sort=NEWEST_FIRST if variable.name == RUN.name else BY_NAME,
        refresh=RELOAD_ON_TIME_CHANGE,
    )
