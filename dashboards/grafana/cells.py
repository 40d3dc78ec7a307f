"""Tables, and points of one figure against another: both need their queries' answers joined into frames first."""

from __future__ import annotations

from typing import Any

import attr
from grafanalib import core

from dashboards.panel import Column, Kind, Panel, Query

RUN_LABEL = "run_id"
"""Points are drawn as one set for each value of this label."""

POINT_SIZE = 6
AXIS_WIDTH = 80


@attr.s
class Joined(core.Panel):  # type: ignore[misc]  # grafanalib has no types
    """A panel of a type that grafanalib does not know, or knows in an old form only."""

    kind: str = attr.ib(default="")
    options: dict[str, Any] = attr.ib(default=attr.Factory(dict))
    defaults: dict[str, Any] = attr.ib(default=attr.Factory(dict))
    overrides: list[dict[str, object]] = attr.ib(default=attr.Factory(list))
    joined: list[dict[str, object]] = attr.ib(default=attr.Factory(list))

    def to_json_data(self) -> dict[str, Any]:
        """Grafana's JSON."""
        defaults = {**self.defaults, "thresholds": {"mode": "absolute", "steps": self.thresholds}}
        made: dict[str, Any] = self.panel_json(
            {
                "type": self.kind,
                "options": self.options,
                "transformations": self.joined,
                "fieldConfig": {"defaults": defaults, "overrides": self.overrides},
            }
        )
        return made


def table(panel: Panel, common: dict[str, Any]) -> core.Panel:
    """Rows are what the queries' labels have in common; the panel's columns are all that is shown."""
    sources = {column.source: _field(column, panel) for column in panel.columns}
    unwanted = {"Time": True, **{_value(query.ref, panel): True for query in panel.queries}}
    shown = dict.fromkeys(sources.values(), False)
    return Joined(
        **common,
        kind=Kind.TABLE.value,
        joined=[
            {"id": "merge", "options": {}},
            {
                "id": "organize",
                "options": {
                    "excludeByName": {**unwanted, **shown},
                    "indexByName": {field: index for index, field in enumerate(sources.values())},
                    "renameByName": {sources[column.source]: column.title for column in panel.columns},
                },
            },
        ],
        options={"cellHeight": "sm", "frameIndex": 0, "showHeader": True},
        defaults={
            "noValue": panel.no_value,
            "unit": panel.unit.value,
            "custom": {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False},
        },
        overrides=[_column(column) for column in panel.columns],
    )


def points(panel: Panel, common: dict[str, Any]) -> core.Panel:
    """The first query to the right, the others upwards, point by point of the time range, a colour for each run."""
    across, *upwards = panel.queries
    return Joined(
        **common,
        kind=Kind.POINTS.value,
        joined=[
            {"id": "merge", "options": {}},
            {
                "id": "partitionByValues",
                "options": {"fields": [RUN_LABEL], "keepFields": False, "naming": {"asLabels": True}},
            },
        ],
        options={
            "mapping": "auto",
            "series": [{"x": {"matcher": {"id": "byName", "options": _value(across.ref, panel)}}}],
            "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "single", "sort": "none"},
        },
        defaults={
            "noValue": panel.no_value,
            "unit": panel.unit.value,
            "color": {"mode": "palette-classic"},
            "custom": {
                "axisPlacement": "auto",
                "axisWidth": AXIS_WIDTH,
                "axisSoftMin": 0,
                "fillOpacity": 50,
                "pointShape": "circle",
                "pointSize": {"fixed": POINT_SIZE},
                "pointStrokeWidth": 1,
                "show": "points",
            },
        },
        overrides=[
            _override(
                _value(across.ref, panel),
                ("unit", panel.x_unit.value),
                ("displayName", across.legend),
                ("custom.axisLabel", across.legend),
            ),
            *(_override(_value(query.ref, panel), ("custom.axisLabel", query.legend)) for query in upwards[:1]),
            *(_override(_value(query.ref, panel), *_named(query)) for query in upwards),
        ],
    )


def _named(query: Query) -> tuple[tuple[str, object], ...]:
    """A set of points is called by what it shows and by its run."""
    name = ("displayName", f"{query.legend} ${{__field.labels.{RUN_LABEL}}}")
    colour = query.style.colour
    return (name, ("color", {"fixedColor": colour, "mode": "fixed"})) if colour else (name,)


def _value(ref: str, panel: Panel) -> str:
    """What Grafana calls the numbers of a query in table form; a lone one has no letter."""
    return f"Value #{ref}" if len(panel.queries) > 1 else "Value"


def _field(column: Column, panel: Panel) -> str:
    refs = {query.ref for query in panel.queries}
    return _value(column.source, panel) if column.source in refs else column.source


def _column(column: Column) -> dict[str, object]:
    found: list[tuple[str, object]] = [("custom.width", column.width), ("unit", column.unit.value)]
    if column.link:
        found.append(("links", [{"title": "open", "url": column.link, "targetBlank": False}]))
    if column.texts:
        options = {value: {"text": words, "index": index} for index, (value, words) in enumerate(column.texts)}
        found.append(("mappings", [{"type": "value", "options": options}]))
    return _override(column.title, *found)


def _override(name: str, *properties: tuple[str, object]) -> dict[str, object]:
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [{"id": key, "value": value} for key, value in properties],
    }
