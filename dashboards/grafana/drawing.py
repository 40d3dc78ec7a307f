"""One panel as grafanalib's object: house style for each kind of picture."""

from __future__ import annotations

from typing import Any, assert_never

from grafanalib import core

from dashboards import palette
from dashboards.grafana.layout import Place
from dashboards.panel import Kind, Panel, Query, Style, Threshold
from dashboards.variables import DATASOURCE

DATA_SOURCE = {"type": "prometheus", "uid": f"${{{DATASOURCE}}}"}

AXIS_WIDTH = 80
"""Pixels for the labels of the vertical axis, equal in all panels so that their time axes line up."""

AXIS = {"axisPlacement": "left", "axisWidth": AXIS_WIDTH, "axisColorMode": "text", "axisCenteredZero": False}


def draw(panel: Panel, place: Place) -> core.Panel:
    """The panel at its place."""
    common = {
        "id": panel.id,
        "title": panel.title,
        "description": panel.description,
        "dataSource": DATA_SOURCE,
        "gridPos": core.GridPos(h=place.h, w=place.w, x=place.x, y=place.y),
        "targets": [_target(query, panel.kind) for query in panel.queries],
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
        case _:
            assert_never(panel.kind)


def _target(query: Query, kind: Kind) -> core.Target:
    return core.Target(
        expr=query.expr,
        legendFormat=query.legend,
        refId=query.ref,
        format="heatmap" if kind is Kind.HEATMAP else "time_series",
        instant=kind is Kind.STAT,
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
        color={"mode": "thresholds"},
        colorMode="value",
        graphMode="none",
        alignment="center",
        reduceCalc="lastNotNull",
        textMode="name" if panel.show_name else "value",
        overrides=_overrides(panel),
        extraJson={"options": {"percentChangeColorMode": "standard", "showPercentChange": False, "wideLayout": True}},
    )


def _lines(panel: Panel, common: dict[str, Any]) -> core.Panel:
    return core.TimeSeries(
        **common,
        unit=panel.unit.value,
        valueMin=panel.minimum,
        valueDecimals=panel.decimals,
        fillOpacity=30 if panel.stacked else 8,
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
                    "custom": {**AXIS, "axisBorderShow": False, "insertNulls": False, "lineStyle": {"fill": "solid"}},
                }
            },
            "options": {"legend": {"showLegend": True}, "tooltip": {"hideZeros": False}},
        },
    )


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
                    "noValue": panel.no_value,
                    "unit": panel.unit.value,
                    "custom": {"axisPlacement": "left", "axisWidth": AXIS_WIDTH},
                }
            },
            "options": {"legend": {"calcs": [], "showLegend": True}, "tooltip": {"sort": "none"}},
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
    matcher = "byRegexp" if name.startswith("/") else "byName"
    return {
        "matcher": {"id": matcher, "options": name},
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
    if style.width != default.width:
        found.append(("custom.lineWidth", style.width))
    if style.unstacked:
        found.append(("custom.stacking", {"group": "A", "mode": "none"}))
    if style.band_from:
        found += [("custom.fillBelowTo", style.band_from), ("custom.fillOpacity", 25)]
    elif style.width == 0:
        found.append(("custom.fillOpacity", 0))
    if not style.in_legend:
        found.append(("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False}))
    return [{"id": key, "value": value} for key, value in found]
