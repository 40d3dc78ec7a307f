"""Keeps the server's metrics and writes their page exactly as the real server writes it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from .families import FAMILIES, Family, Kind

CONTENT_TYPE = "text/plain"
DEFAULT_PATH = "/monitoring/prometheus/metrics"


class Distribution:
    """A histogram's cell: bucket counts and the sum. A value equal to an edge falls into the bucket above it."""

    __slots__ = ("counts", "edges", "total")

    def __init__(self, edges: tuple[float, ...]) -> None:
        """All zero."""
        self.edges = edges
        self.counts = [0] * (len(edges) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_right(self.edges, value)] += 1
        self.total += value


class MetricPage:
    """Cells by family and label values. A cell is born by its first event, so no counter ever shows a first 0."""

    def __init__(self) -> None:
        """No cells."""
        self._scalars: defaultdict[Family, dict[tuple[str, ...], int]] = defaultdict(dict)
        self._distributions: defaultdict[Family, dict[tuple[str, ...], Distribution]] = defaultdict(dict)

    def count(self, family: Family, labels: tuple[str, ...] = (), by: int = 1) -> None:
        """Add `by` to a counter, or to a gauge that starts at 0."""
        cells = self._scalars[family]
        cells[labels] = cells.get(labels, 0) + by

    def observe(self, family: Family, value: float, labels: tuple[str, ...] = ()) -> None:
        """Count one value into a histogram, in the family's own unit."""
        cells = self._distributions[family]
        cell = cells.get(labels)
        if cell is None:
            cell = cells[labels] = Distribution(family.edges)
        cell.add(value)

    def text(self) -> str:
        """The page: no HELP, no timestamps, families by internal path, cells by label values, a final newline."""
        return "\n".join(line for family in FAMILIES for line in self._family(family)) + "\n"

    def _family(self, family: Family) -> Iterator[str]:
        name = exported_name(family.path)
        if family.kind is Kind.HISTOGRAM:
            cells = self._distributions.get(family, {})
            if cells or not family.late:
                yield f"# TYPE {name} histogram"
            for values in sorted(cells):
                yield from _histogram(name, _label_text(family.labels, values), cells[values])
            return
        yield f"# TYPE {name} {family.kind}"
        scalars = self._scalars.get(family, {})
        for values in sorted(scalars):
            yield f"{name}{{{_label_text(family.labels, values)}}} {scalars[values]}"


def exported_name(path: str) -> str:
    """The name on the page: every character outside `[a-zA-Z0-9_]` becomes a colon."""
    return re.sub(r"[^a-zA-Z0-9_]", ":", path)


def six_digits(value: float) -> str:
    """A number as the real server prints it: six significant digits."""
    return f"{value:.6g}"


def _label_text(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    # Only backslash and quote are escaped: a newline would break the page, and does so on the real server.
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return ",".join(f'{name}="{value}"' for name, value in zip(names, escaped, strict=True))


def _histogram(name: str, labels: str, cell: Distribution) -> Iterator[str]:
    start = f"{name}_bucket{{{labels},le=" if labels else f"{name}_bucket{{le="
    cumulative = 0
    for edge, events in zip((*map(six_digits, cell.edges), "+Inf"), cell.counts, strict=True):
        cumulative += events
        yield f'{start}"{edge}"}} {cumulative}'
    yield f"{name}_sum{{{labels}}} {six_digits(cell.total)}"
    yield f"{name}_count{{{labels}}} {cumulative}"
