"""One panel as grafanalib's object: house style for each kind of picture."""

from __future__ import annotations

from typing import Any, assert_never

from grafanalib import core

from dashboards import palette
from dashboards.grafana import cells
from dashboards.grafana.layout import Place
from dashboards.panel import Kind, Panel, Query, Style, Threshold
from dashboards.variables import DATASOURCE

DATA_SOURCE = {"type": "prometheus", "uid": f"${{{DATASOURCE}}}"}

AXIS_WIDTH = 100
"""Pixels for labels of the vertical axis, stages' names too: equal in all panels, so that their time axes line up."""

AXIS = {"axisPlacement": "left", "axisWidth": AXIS_WIDTH, "axisColorMode": "text", "axisCenteredZero": False}


def draw(panel: Panel, place: Place) -> core.Panel:
    """The panel at its place."""
    common = {
        "id": panel.id,
        "title": panel.title,
        "description": panel.description,
        "dataSource": DATA_SOURCE,
        "gridPos": core.GridPos(h=place.h, w=place.w, x=place.x, y=place.y),
        "targets": [_target(query, panel) for query in panel.queries],
        "thresholds": [_step(step) for step in panel.thresholds],
        "maxDataPoints": None,
        "editable": False,
    }
    match panel.kind:
        case Kind.STAT:
            return _stat(panel, common)
        case Kind.LINES:
            return _lines(panel, common)
        case Kind.HEATMAP:
            return _heatmap(panel, common)
        case Kind.STATES:
            return _states(panel, common)
        case Kind.TABLE:
            return cells.table(panel, common)
        case Kind.POINTS:
            return cells.points(panel, common)
        case _:
            assert_never(panel.kind)


def _target(query: Query, panel: Panel) -> core.Target:
    in_frames = panel.labels or panel.kind in (Kind.TABLE, Kind.POINTS)
    shape = "heatmap" if panel.kind is Kind.HEATMAP else "table" if in_frames else "time_series"
    return core.Target(
        expr=query.expr,
        legendFormat=query.legend,
        refId=query.ref,
        format=shape,
        instant=panel.kind in (Kind.STAT, Kind.TABLE),
        datasource=DATA_SOURCE,
    )


def _step(threshold: Threshold) -> dict[str, object]:
    return {"color": threshold.colour, "value": threshold.value}


def _stat(panel: Panel, common: dict[str, Any]) -> core.Panel:
    return core.Stat(
        **common,
        format=panel.unit.value,
        decimals=panel.decimals,
        noValue=panel.no_value,
        mappings=[*_label_colours(panel), _absence(panel)],
        color={"mode": "thresholds"},
        colorMode="value",
        graphMode="none",
        alignment="center",
        orientation="horizontal",
        reduceCalc="lastNotNull",
        fields=f"/^({'|'.join(panel.labels)})$/" if panel.labels else "",
        textMode="value",
        overrides=[],
        extraJson={"options": {"percentChangeColorMode": "standard", "showPercentChange": False, "wideLayout": True}},
    )


def _label_colours(panel: Panel) -> list[dict[str, object]]:
    options = {name: {"color": colour, "text": name} for name, colour in panel.colours}
    options |= {str(state.value): {"color": state.colour, "text": state.text} for state in panel.states}
    return [{"type": "value", "options": options}] if options else []


def _absence(panel: Panel) -> dict[str, object]:
    """No value is grey, so that it never looks like a good one."""
    return {
        "type": "special",
        "options": {"match": "null+nan", "result": {"color": palette.DEAD, "text": panel.no_value}},
    }


def _lines(panel: Panel, common: dict[str, Any]) -> core.Panel:
    return core.TimeSeries(
        **common,
        unit=panel.unit.value,
        valueMin=panel.minimum,
        valueDecimals=panel.decimals,
        lineWidth=0 if panel.stacked else Style().width,
        fillOpacity=60 if panel.stacked else 0,
        showPoints="never",
        legendCalcs=["lastNotNull", "max"],
        legendDisplayMode="list",
        tooltipMode="multi",
        tooltipSort="desc",
        thresholdsStyleMode="line" if panel.thresholds else "off",
        stacking={"group": "A", "mode": "normal" if panel.stacked else "none"},
        overrides=_overrides(panel),
        extraJson={
            "fieldConfig": {
                "defaults": {
                    "noValue": panel.no_value,
                    "custom": {
                        **AXIS,
                        "axisBorderShow": False,
                        "axisSoftMax": _soft_top(panel),
                        "insertNulls": False,
                        "lineStyle": {"fill": "solid"},
                    },
                }
            },
            "options": {"legend": {"showLegend": True}, "tooltip": {"hideZeros": False}},
        },
    )


def _soft_top(panel: Panel) -> float | None:
    """High enough that the highest threshold is in sight."""
    values = [step.value for step in panel.thresholds if step.value is not None]
    return 1.05 * max(values) if values else None


def _heatmap(panel: Panel, common: dict[str, Any]) -> core.Panel:
    return core.Heatmap(
        **common,
        extraJson={
            "fieldConfig": {
                "defaults": {
                    "noValue": panel.no_value,
                    "custom": {
                        "hideFrom": {"legend": False, "tooltip": False, "viz": False},
                        "scaleDistribution": {"type": "linear"},
                    },
                },
                "overrides": [],
            },
            "options": {
                "calculate": False,
                "cellGap": 1,
                "cellValues": {"unit": "reqps", "decimals": 1},
                "color": {
                    "mode": "scheme",
                    "scheme": "Blues",
                    "fill": "dark-blue",
                    "scale": "exponential",
                    "exponent": 0.5,
                    "reverse": False,
                    "steps": 64,
                },
                "exemplars": {"color": palette.BAD},
                "filterValues": {"le": 1e-9},
                "legend": {"show": True},
                "rowsFrame": {"layout": "auto"},
                "showValue": "never",
                "tooltip": {"mode": "single", "showColorScale": True, "yHistogram": False},
                "yAxis": {"axisPlacement": "left", "axisWidth": AXIS_WIDTH, "reverse": False, "unit": panel.unit.value},
            },
        },
    )


def _states(panel: Panel, common: dict[str, Any]) -> core.Panel:
    options = {str(state.value): {"text": state.text, "color": state.colour} for state in panel.states}
    return core.StateTimeline(
        **common,
        colorMode="palette-classic",
        mappings=[{"type": "value", "options": options}],
        rowHeight=0.85,
        showValue="always",
        legendDisplayMode="list",
        overrides=[],
        extraJson={
            "fieldConfig": {
                "defaults": {
                    "unit": panel.unit.value,
                    "custom": {"axisPlacement": "left", "axisWidth": AXIS_WIDTH},
                }
            },
            "options": {"legend": {"calcs": [], "showLegend": False}, "tooltip": {"sort": "none"}},
        },
    )


def _overrides(panel: Panel) -> list[dict[str, object]]:
    """What differs from the panel's defaults: by query first, by series last, so that the latter wins."""
    styled: list[dict[str, object]] = [
        {"matcher": {"id": "byFrameRefID", "options": query.ref}, "properties": properties}
        for query in panel.queries
        if (properties := _properties(query.style))
    ]
    return [*styled, *(_coloured(name, colour) for name, colour in panel.colours)]


def _coloured(name: str, colour: str) -> dict[str, object]:
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [{"id": "color", "value": {"fixedColor": colour, "mode": "fixed"}}],
    }


def _properties(style: Style) -> list[dict[str, object]]:
    default = Style()
    found: list[tuple[str, object]] = []
    if style.colour:
        found.append(("color", {"fixedColor": style.colour, "mode": "fixed"}))
    if style.dashed:
        found.append(("custom.lineStyle", {"dash": [8, 6], "fill": "dash"}))
        found.append(("custom.fillOpacity", 0))
    if style.stepped:
        found.append(("custom.lineInterpolation", "stepAfter"))
    if style.unstacked:
        found.append(("custom.stacking", {"group": "A", "mode": "none"}))
    if style.unstacked or style.width != default.width:
        found.append(("custom.lineWidth", style.width))
    if style.band_from:
        found += [("custom.fillBelowTo", style.band_from), ("custom.fillOpacity", 25)]
    elif style.width == 0:
        found.append(("custom.fillOpacity", 0))
    if not style.in_legend:
        found.append(("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False}))
    return [{"id": key, "value": value} for key, value in found]
