"""All series of a run as OpenMetrics text with timestamps, so that `promtool` brings them back into any Prometheus.

Every name is a family of unknown type: types are not stored in Prometheus's blocks, and TF Serving's names do not keep
to the rules that OpenMetrics has for counters and histograms. Samples carry their own timestamps in milliseconds.
"""

from __future__ import annotations

import gzip
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from controller.ports import Series, SeriesStore

_LEGACY_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LEGACY_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def export_series(store: SeriesStore, matchers: Sequence[str], start: datetime, end: datetime) -> Iterator[bytes]:
    """The text in pieces, one for each name; `matchers` are selectors in braces, their union is exported.

    Samples of `(start, end]`; memory is bounded by the largest name. Raises `EdgeError`.
    """
    for matcher in matchers:
        if not (matcher.startswith("{") and matcher.endswith("}")):
            raise ValueError(f"{matcher!r} is not a selector in braces")
    sources: dict[str, list[str]] = {}
    for matcher in matchers:
        for name in store.names(matcher, start, end):
            sources.setdefault(name, []).append(matcher)
    for name in sorted(sources):
        yield family(name, _union(store, name, sources[name], start, end))
    yield b"# EOF\n"


def archive(store: SeriesStore, matchers: Sequence[str], start: datetime, end: datetime) -> bytes:
    """`export_series`, compressed: the content of `series.om.gz`; equal series give equal bytes."""
    compressed = io.BytesIO()
    with gzip.GzipFile(fileobj=compressed, mode="wb", mtime=0, compresslevel=6) as file:
        for piece in export_series(store, matchers, start, end):
            file.write(piece)
    return compressed.getvalue()


def family(name: str, series: Sequence[Series]) -> bytes:
    """All samples of one name; series in order of their labels, points in order of time."""
    lines = []
    for found in sorted(series, key=lambda one: sorted(one.labels.items())):
        head = _head(name, found.labels)
        lines += [f"{head} {number(value)} {at:.3f}\n" for at, value in found.points]
    return "".join(lines).encode()


def number(value: float) -> str:
    """The shortest text that gives the same double back; `NaN`, `+Inf`, `-Inf`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def _union(store: SeriesStore, name: str, matchers: Sequence[str], start: datetime, end: datetime) -> list[Series]:
    found: dict[tuple[tuple[str, str], ...], Series] = {}
    for matcher in matchers:
        inner = matcher[1:-1].strip().rstrip(",")
        selector = "{" + ",".join(part for part in (f"__name__={_quoted(name)}", inner) if part) + "}"
        for series in store.raw(selector, start, end):
            found[tuple(sorted(series.labels.items()))] = series
    return list(found.values())


def _head(name: str, labels: Mapping[str, str]) -> str:
    pairs = [
        f"{label if _LEGACY_LABEL.fullmatch(label) else _quoted(label)}={_quoted(value)}"
        for label, value in sorted(labels.items())
        if label != "__name__"
    ]
    if not _LEGACY_NAME.fullmatch(name):
        return "{" + ",".join([_quoted(name), *pairs]) + "}"
    return name + ("{" + ",".join(pairs) + "}" if pairs else "")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
