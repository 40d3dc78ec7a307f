"""What Grafana 11 to 13 expects and grafanalib 0.7.1 does not write, mended on the finished document.

grafanalib is frozen at schema 12. It writes keys that Grafana dropped, nulls in place of absence, `"null"` as a string
in thresholds, and per query a doubled step that breaks the rate window; Grafana's migrations overwrite the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dashboards import palette

SCHEMA_VERSION = 42
PLUGIN_VERSION = "11.6.0"
"""The oldest Grafana that the boards are for; older panels' migrations are skipped."""

Json = dict[str, Any]

DASHBOARD_KEYS = frozenset({"__inputs", "rows", "hideControls", "sharedCrosshair", "style", "gnetId"})
PANEL_KEYS = frozenset(
    {
        *("cacheTimeout", "editable", "error", "height", "minSpan", "span", "maxPerRow", "repeat", "repeatDirection"),
        *("hideTimeOverride", "timeFrom", "timeShift", "interval"),
    }
)
HEATMAP_KEYS = frozenset(
    {
        *("cards", "color", "dataFormat", "heatmap", "hideZeroBuckets", "highlightCards", "legend", "reverseYBuckets"),
        *("tooltip", "xAxis", "xBucketNumber", "xBucketSize", "yAxis", "yBucketBound", "yBucketNumber", "yBucketSize"),
    }
)
TARGET_KEYS = frozenset({"intervalFactor", "step", "metric", "query", "target", "interval", "hide"})
VARIABLE_KEYS = frozenset({"tagsQuery", "tagValuesQuery", "useTags", "auto", "auto_min", "auto_count"})


def modernize(dashboard: Json) -> Json:
    """The document without legacy keys and nulls, at the schema version that it now really has."""
    found = {key: value for key, value in dashboard.items() if key not in DASHBOARD_KEYS}
    found["schemaVersion"] = SCHEMA_VERSION
    found["graphTooltip"] = 1
    found["fiscalYearStartMonth"] = 0
    found["panels"] = [_panel(panel) for panel in found["panels"]]
    found["templating"] = {"list": [_variable(variable) for variable in found["templating"]["list"]]}
    found["timepicker"] = {"refresh_intervals": found["timepicker"]["refresh_intervals"]}
    pruned: Json = _pruned(found)
    return pruned


def _panel(panel: Json) -> Json:
    dropped = PANEL_KEYS | (HEATMAP_KEYS if panel["type"] == "heatmap" else frozenset())
    found = {key: value for key, value in panel.items() if key not in dropped}
    if panel["type"] == "row":
        row = {key: found[key] for key in ("id", "title", "type", "collapsed", "gridPos")}
        return row | {"panels": [_panel(inside) for inside in found["panels"]]}
    found["pluginVersion"] = PLUGIN_VERSION
    found["targets"] = [_target(target) for target in found["targets"]]
    defaults = found["fieldConfig"]["defaults"]
    defaults["thresholds"]["steps"] = [
        {"color": step["color"], "value": step["value"]} for step in defaults["thresholds"]["steps"]
    ] or [{"color": palette.GOOD, "value": None}]
    for index, result in enumerate(_mapped(defaults.get("mappings", ()))):
        result["index"] = index
    return found


def _mapped(mappings: Iterable[Json]) -> Iterator[Json]:
    """The results of value mappings, in order: Grafana sorts them by a number that must not be null."""
    for mapping in mappings:
        options = mapping["options"]
        yield from (options["result"],) if mapping["type"] == "special" else options.values()


def _target(target: Json) -> Json:
    found = {key: value for key, value in target.items() if key not in TARGET_KEYS}
    found["range"] = not found["instant"]
    found["editorMode"] = "code"
    found["exemplar"] = False
    return found


def _variable(variable: Json) -> Json:
    found = {key: value for key, value in variable.items() if key not in VARIABLE_KEYS}
    if found["type"] == "query":
        found["definition"] = found["query"]
        found["query"] = {"qryType": 5, "query": found["query"], "refId": f"variable-{found['name']}"}
        found["current"] = {"text": ["All"], "value": ["$__all"]} if found["includeAll"] else {"text": "", "value": ""}
    else:
        found["current"] = {key: found["current"][key] for key in ("text", "value")}
    return found


def _pruned(value: Any, inside: str = "") -> Any:
    """Without nulls, but for the bottom step of thresholds, where null means: from minus infinity."""
    match value:
        case dict():
            keep = inside == "steps"
            return {key: _pruned(item, key) for key, item in value.items() if keep or item is not None}
        case list():
            return [_pruned(item, inside) for item in value]
        case _:
            return value
