"""Every metric name that rules, alerts and dashboards use exists; every name of ours says its unit and what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller import names as controller
from exporters.metric import Metric
from exporters.names import exporter, gpu, host, loadgen
from tests.known_names import KNOWN
from tests.prometheus import files

OURS: tuple[Metric, ...] = (*controller.ALL, *exporter.ALL, *gpu.ALL, *host.ALL, *loadgen.ALL)
PREFIXES = {controller: "loadtest_", exporter: "exporter_", gpu: "gpu_", host: "host_", loadgen: "loadgen_"}
ROOT = Path(__file__).parents[1]

NOT_BASE = re.compile(
    r"_(?:ms|us|ns|millis|milliseconds|microseconds|nanoseconds|usecs?|minutes|hours|days|percent|percentage"
    r"|kb|mb|gb|kib|mib|gib|kilobytes|megabytes|bits|milliwatts|mhz|ghz|kelvin|fahrenheit)(?:_|$)"
)
"""Units that are not base units, wherever they stand in a name."""

UNIT = re.compile(
    r"_(?:seconds|bytes|bytes_per_second|ratio|celsius|watts|joules|hertz|cores)(?:_(?:total|sum|count|bucket|info))?$"
)

WORDS_OF_UNITS = re.compile(
    r"\b(?:time (?:that|spent|from|for|in which|left|between)|age of|how long|how late|how much later|unix time"
    r"|bytes|memory (?:of|used|installed|allocated|charged|that)|share of)\b",
    re.IGNORECASE,
)
"""What a help text says when the value has a unit."""


def test_every_name_used_exists() -> None:
    exist = _exposed() | files.recordings() | KNOWN
    unknown = {(where, name) for where, expression in _expressions() for name in used(expression) - exist}
    assert unknown == set()


def test_rules_and_alerts_are_looked_at() -> None:
    looked_at = {where.split("/")[0] for where, _ in _expressions()}
    assert looked_at == {"rules", "alerts", "dashboards"} if _dashboards() else {"rules", "alerts"}


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        (
            'sum by (le) (rate(:tensorflow:serving:request_latency_bucket{API!=""}[1m]))',
            {":tensorflow:serving:request_latency_bucket"},
        ),
        ("histogram_quantile(0.99, a_bucket) / 1e3 > bool 2.5", {"a_bucket"}),
        ("a + on (job, instance) group_left (plan) b{x=\"c{d='e'}\"} offset 5m", {"a", "b"}),
        ("up unless on () (x:y:z == 1)", {"up", "x:y:z"}),
        ('label_replace(a, "b", "$1", "c", "(.*)")', {"a"}),
        ("max_over_time((a > 0)[5m:30s])", {"a"}),
        ("rate(a[$__rate_interval]) and $plan", {"a"}),
        ('{__name__=":tensorflow:core:graph_runs"}', {":tensorflow:core:graph_runs"}),
        ("a * NaN + Inf - 0x1f # not_a_metric", {"a"}),
        ("topk(5, count without (b) (c @ end()))", {"c"}),
        ("absent(renamed)", {"renamed"}),
        ('label_values(:a:b{c="d"}, e)', {":a:b"}),
    ],
)
def test_names_are_found_in_expressions(expression: str, names: set[str]) -> None:
    assert used(expression) == names


@pytest.mark.parametrize("metric", OURS, ids=lambda metric: metric.name)
def test_a_name_of_ours_keeps_the_rules(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name), "lower case, and no colon: that is for recordings"
    assert not NOT_BASE.search(metric.name), "base units only"
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert metric.name.endswith("_info") == (metric.kind == "info")
    assert metric.help.endswith("."), "a help text is a sentence"
    assert metric.help[0].isupper() or metric.help[0].isdigit()
    if metric.kind == "histogram":
        assert UNIT.search(metric.name)


@pytest.mark.parametrize("metric", OURS, ids=lambda metric: metric.name)
def test_a_name_says_the_unit_that_its_help_speaks_of(metric: Metric) -> None:
    if metric.kind != "info" and WORDS_OF_UNITS.search(metric.help):
        assert UNIT.search(metric.name), f"the help text speaks of a quantity with a unit: {metric.help}"


def test_names_are_unique_and_have_their_module_s_prefix() -> None:
    names = [metric.name for metric in OURS]
    assert len(names) == len(set(names))
    for module, prefix in PREFIXES.items():
        assert [metric.name for metric in module.ALL if not metric.name.startswith(prefix)] == []


def test_only_info_metrics_carry_a_run_id() -> None:
    assert [m.name for m in OURS if {"run_id", "plan_digest"} & set(m.labels) and m.kind != "info"] == []


def used(expression: str) -> set[str]:
    """The metric names in a PromQL expression; Grafana's variables are no names."""
    text = re.sub(r"\boffset \$\{\w+\}s|#[^\n]*", " ", expression)
    named = set(re.findall(r"""__name__\s*=\s*["']([^"']+)["']""", text))
    text = re.sub(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", '""', text)
    text = re.sub(r"(\blabel_values\([^,()]*),[^()]*\)", r"\1)", text)
    text = re.sub(r"\{[^{}]*\}|\[[^\[\]]*\]", " ", text)
    text = re.sub(r"\$(?:\w+|\{[^}]*\})", " ", text)
    text = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)", " ", text)
    text = re.sub(r"\boffset\s+-?\s*\w+|@\s*(?:start|end)\s*\(\s*\)|@\s*[\d.]+", " ", text)
    found = re.findall(r"(?<![\w:.])([A-Za-z_:][\w:]*)(?!\s*\(|[\w:])", text)
    return named | {name for name in found if name.lower() not in _WORDS}


_WORDS = frozenset(
    [
        *("and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right"),
        *("bool", "offset", "nan", "inf"),
        *(
            "sum",
            "min",
            "max",
            "avg",
            "count",
            "stddev",
            "stdvar",
            "topk",
            "bottomk",
            "quantile",
            "count_values",
            "group",
        ),
    ]
)
"""What may stand where a metric's name may stand."""


def _exposed() -> set[str]:
    """Our names as a query writes them: histograms in their three parts."""
    parts = ("_bucket", "_sum", "_count")
    histograms = {m.name + part for m in OURS if m.kind == "histogram" for part in parts}
    return histograms | {m.name for m in OURS if m.kind != "histogram"}


def _expressions() -> Iterator[tuple[str, str]]:
    """Where it stands, and the expression."""
    for file in files.RULES + files.ALERTS:
        for rule in files.rules([file]):
            yield f"{file.parent.name}/{file.name}", rule["expr"]
    for file in _dashboards():
        for expression in _targets(json.loads(file.read_text(encoding="utf-8"))):
            yield f"dashboards/{file.name}", expression


def _dashboards() -> list[Path]:
    """Generated dashboards, where they are committed or built."""
    folders = ("dashboards", "build/dashboards", "tests/dashboards/golden", "compose/grafana")
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*.json"))]


def _targets(value: Any) -> Iterator[str]:
    """Every `expr` and every variable's `label_values(…)` in a dashboard."""
    match value:
        case dict():
            for key, inner in value.items():
                if isinstance(inner, str) and (key == "expr" or inner.startswith("label_values(")):
                    yield inner
                yield from _targets(inner)
        case list():
            for inner in value:
                yield from _targets(inner)
