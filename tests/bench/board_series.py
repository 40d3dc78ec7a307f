"""A day of every series that any board asks for, made from the metrics' own names and labels: none is forgotten."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from controller.generator.latency import COARSE_BOUNDS_US, DURATION_BOUNDS_US, LAG_BOUNDS_US, LATENESS_BOUNDS_US
from dashboards import tfserving
from dashboards.catalog import BOARDS
from exporters.metric import Metric
from exporters.names import loadgen
from tests.dashboards.known import METRICS, selectors

SCRAPE = 5
DAY = 86_400
RAW = 600
"""Seconds of the series that rules read and no board does."""

SERVER_BOUNDS = tuple(f"{10 * 1.8**i:.6g}" for i in range(33))
QUEUE_BOUNDS = tuple(f"{100 * 1.2**i:.6g}" for i in range(52))
FINE = tuple(str(bound / 1e6) for bound in DURATION_BOUNDS_US)
COARSE = tuple(str(bound / 1e6) for bound in COARSE_BOUNDS_US)

RUNS = ("first", "second")
"""Each has half of the day."""

LABELS: dict[str, tuple[str, ...]] = {
    "run_id": RUNS,
    "plan": ("nightly",),
    "seq": tuple(str(number) for number in range(6)),
    "stage": ("peak",),
    "phase": ("steady",),
    "objective": ("p99 <= 250ms", "p95 <= 150ms", "error_ratio < 1%"),
    "verdict": ("pass", "fail"),
    "outcome": loadgen.OUTCOMES,
    "signal": loadgen.SIGNALS,
    "worker": ("w1", "w2", "w3", "w4"),
    "model_name": ("resnet", "bert"),
    "entrypoint": ("REST", "GRPC"),
    "API": ("predict",),
    "quantile": ("p50", "p95", "p99"),
    "duration": ("0-100 ms", "100-200 ms", "200-500 ms", "500-1000 ms", "over 1000 ms"),
    "uuid": ("GPU-a", "GPU-b"),
    "mode": ("user", "system", "idle", "iowait", "irq", "softirq", "steal"),
    "resource": ("cpu", "memory", "io"),
    "device": ("eth0", "sda"),
    "status": ("OK", "UNAVAILABLE"),
    "job": ("bench",),
    "instance": ("bench:1",),
}
"""Values of the labels; of one that is not here there is one value."""


@dataclass(frozen=True, slots=True)
class Family:
    """Series of one name: `kind` decides how their values go, `since` is the first second that they have."""

    name: str
    labels: tuple[tuple[str, str], ...]
    kind: str
    since: int


def families(end: int) -> tuple[Family, ...]:
    """Every series there is at `end`, in epoch seconds: a day of what boards ask for, ten minutes of the rest."""
    panels = [panel for board in BOARDS for panel in board.panels]
    asked = {name for panel in panels for query in panel.queries for name in selectors(query.expr)}
    return tuple(family for metric in METRICS.values() for family in _families(metric, asked, end))


def openmetrics(found: tuple[Family, ...], begin: int, end: int, day_ends: int) -> Iterator[str]:
    """The text of these series from `begin` to before `end`, series by series, every scrape of it."""
    for family in found:
        yield "".join(_lines(family, begin, end, day_ends))
    yield "# EOF\n"


def _families(metric: Metric, asked: set[str], end: int) -> Iterator[Family]:
    parts = ("_bucket", "_sum", "_count") if metric.kind == "histogram" else ("",)
    names = [name for name in dict.fromkeys((*metric.labels, "job", "instance")) if name != "le"]
    for part in parts:
        name = f"{metric.name}{part}"
        read_by_rules_only = name not in asked
        if read_by_rules_only and ":" in name.lstrip(":"):
            continue
        since = end - (RAW if read_by_rules_only else DAY)
        for values in product(*(LABELS.get(label, (label,)) for label in names)):
            labels = tuple(zip(names, values, strict=True))
            bounds = _bounds(metric, dict(labels)) if part == "_bucket" or "le" in metric.labels else (None,)
            for bound in bounds:
                own = labels if bound is None else (*labels, ("le", bound))
                yield Family(name, own, metric.kind, since)


def _bounds(metric: Metric, labels: dict[str, str]) -> tuple[str, ...]:
    if metric.name == tfserving.QUEUE_LATENCY.name:
        return (*QUEUE_BOUNDS, "+Inf")
    if "tensorflow" in metric.name or "tfserving" in metric.name:
        return (*SERVER_BOUNDS, "+Inf")
    if metric is loadgen.LATENESS:
        return (*(str(bound / 1e6) for bound in LATENESS_BOUNDS_US), "+Inf")
    if metric is loadgen.LOOP_LAG:
        return (*(str(bound / 1e6) for bound in LAG_BOUNDS_US), "+Inf")
    return (*(FINE if labels.get("outcome") in ("ok", "degraded") else COARSE), "+Inf")


def _lines(family: Family, begin: int, end: int, day_ends: int) -> Iterator[str]:
    labels = dict(family.labels)
    noon = day_ends - DAY // 2
    first = max(begin, family.since, noon if labels.get("run_id") == RUNS[1] else 0)
    last = min(end, noon - 60) if labels.get("run_id") == RUNS[0] else end
    text = ",".join(f'{key}="{value}"' for key, value in family.labels)
    series = f"{family.name}{{{text}}}"
    slope, level = _slope(family, labels), _level(family, day_ends)
    moves = level not in (0.0, 1.0) and level < 1e9
    for at in range(first, last, SCRAPE):
        value = slope * (at - family.since) if slope else level * (1 + 0.2 * math.sin(at / 300)) if moves else level
        yield f"{series} {value:.6g} {at}\n"


def _slope(family: Family, labels: dict[str, str]) -> float:
    """Counted events a second; 0 for what is no counter."""
    if family.kind not in ("counter", "histogram"):
        return 0.0
    rare = labels.get("outcome", "ok") not in ("ok", "degraded") or labels.get("status", "OK") != "OK"
    return 0.1 if rare else 500.0 * (_rank(labels["le"]) if "le" in labels else 1.0)


def _level(family: Family, end: int) -> float:
    if family.name.endswith("timestamp_seconds"):
        return float(end - DAY // 2)
    if family.name.startswith(("loadtest_run_active", "loadtest_phase", "up", "loadtest_verdict")):
        return 1.0
    le = dict(family.labels).get("le")
    return 500.0 * _rank(le) if le else 0.25


def _rank(le: str) -> float:
    """Share of observations up to the bound: about evenly over the logarithm."""
    if le == "+Inf":
        return 1.0
    seconds = float(le) / (1e6 if float(le) >= 10 else 1)
    return min(1.0, max(0.0, (math.log10(seconds) + 5) / 7))
