"""Writes families as Prometheus reads them: text format 0.0.4, or OpenMetrics 1.0 for who asks for it.

Written here because a page of eight GPUs has two thousand lines, and what never changes about a line (name, labels,
escapes) is kept from scrape to scrape. The tests read every page with the Prometheus client library's parser.
"""

from __future__ import annotations

from collections.abc import Iterable

from exporters.family import Family, Sample
from exporters.metric import Metric

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

_MOST_KEPT = 4096
_kept: dict[Metric, dict[tuple[str, ...], str]] = {}
"""What stands before the value, by metric and label values; a metric's are forgotten when there are too many."""
_NOT_FINITE = {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}


def render(shown: Iterable[Family], accept: str) -> tuple[bytes, str]:
    """The whole page in the format that `accept` (the request's header) asks for, and its content type."""
    openmetrics = asked(accept)
    return lines(shown, openmetrics) + end(openmetrics), content_type(openmetrics)


def asked(accept: str) -> bool:
    """Whether the header asks for OpenMetrics."""
    return "application/openmetrics-text" in accept


def content_type(openmetrics: bool) -> str:
    """The header of the answer."""
    return OPENMETRICS if openmetrics else PLAIN


def end(openmetrics: bool) -> bytes:
    """What stands behind the last line."""
    return b"# EOF\n" if openmetrics else b""


def lines(shown: Iterable[Family], openmetrics: bool) -> bytes:
    """A part of a page: families that are on no other part."""
    parts: list[str] = []
    for family in shown:
        if family.samples:
            parts.append(_head(family.metric, openmetrics))
            _lines(family.metric, family.samples, parts)
    return "".join(parts).encode("utf-8", "replace")


def _lines(metric: Metric, samples: Iterable[Sample], parts: list[str]) -> None:
    kept = _kept.get(metric)
    if kept is None or len(kept) > _MOST_KEPT:
        kept = _kept[metric] = {}
    for labels, value in samples:
        before = kept.get(labels)
        if before is None:
            before = kept[labels] = _before(metric, labels)
        number = repr(value)
        parts.append(f"{before}{_NOT_FINITE.get(number, number)}\n")


def _before(metric: Metric, labels: tuple[str, ...]) -> str:
    if not labels:
        return f"{metric.name} "
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(metric.labels, labels, strict=True))
    return f"{metric.name}{{{','.join(pairs)}}} "


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _head(metric: Metric, openmetrics: bool) -> str:
    text = metric.help.replace("\\", r"\\").replace("\n", r"\n")
    if openmetrics:
        name, kind, text = metric.family, metric.kind, text.replace('"', r"\"")
    else:
        name, kind = metric.name, "gauge" if metric.kind == "info" else metric.kind
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
