"""Which metrics there are, and which of them an expression asks for."""

from __future__ import annotations

import re

from controller.names import ALL as LOADTEST
from dashboards import prometheus, recorded, tfserving
from exporters.metric import Metric
from exporters.names import exporter, gpu, host, loadgen

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *(*LOADTEST, *loadgen.ALL, *host.ALL, *gpu.ALL, *exporter.ALL),
        *(*tfserving.ALL, *prometheus.ALL, *recorded.ALL),
    )
}

WORDS = {"or", "and", "unless", "offset", "bool", "e"}


def selectors(expr: str) -> set[str]:
    """Metric names in an expression: the words outside braces and strings that are neither calls nor PromQL's own."""
    bare = re.sub(r'"[^"]*"|(?<!\$)\{[^}]*\}|\b(?:by|on|group_left|group_right) \([^)]*\)', " ", expr)
    bare = re.sub(r"\$\{\w+\}s?|\$\w+|\[[^\[\]]*\]", " ", bare)
    return set(re.findall(r"(?<![\w:.])([a-zA-Z_:][\w:]*)(?![\w:]|\s*\()", bare)) - WORDS


def metric_of(name: str) -> Metric | None:
    """The metric that a series belongs to."""
    if name in METRICS:
        return METRICS[name] if METRICS[name].kind != "histogram" else None
    base, _, part = name.rpartition("_")
    found = METRICS.get(base)
    return found if found and found.kind == "histogram" and part in ("bucket", "sum", "count") else None
