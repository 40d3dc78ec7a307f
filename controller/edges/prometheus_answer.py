"""Prometheus's answers as values of ours. Pure; numbers come as strings, and may be NaN, +Inf or absent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from controller.ports import EdgeError, Sample, Series


def samples(data: Any, about: str) -> tuple[list[Sample], int]:
    """An instant answer, and how many of its elements have no single value (native histograms)."""
    kind, result = _typed(data, about)
    if kind == "scalar":
        return [Sample({}, _number(result[1]), _instant(result[0]))], 0
    if kind != "vector":
        raise EdgeError(f"could not use Prometheus's answer for {about}: it is a {kind}, a vector was expected")
    plain = [element for element in result if "value" in element]
    found = [Sample(_labels(element), _number(element["value"][1]), _instant(element["value"][0])) for element in plain]
    return found, len(result) - len(plain)


def matrix(data: Any, about: str) -> tuple[list[Series], int]:
    """Series over time, those without a point left out, and how many have no single values."""
    kind, result = _typed(data, about)
    if kind != "matrix":
        raise EdgeError(f"could not use Prometheus's answer for {about}: it is a {kind}, a matrix was expected")
    found = [
        Series(_labels(element), [(float(at), _number(value)) for at, value in element["values"]])
        for element in result
        if element.get("values")
    ]
    return found, sum(1 for element in result if "histograms" in element)


def joined(parts: Iterable[Sequence[Series]]) -> list[Series]:
    """Spans that follow each other as one: points of the same series in order."""
    points: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
    for part in parts:
        for series in part:
            points.setdefault(tuple(sorted(series.labels.items())), []).extend(series.points)
    return [Series(dict(labels), found) for labels, found in points.items()]


def _typed(data: Any, about: str) -> tuple[str, Any]:
    match data:
        case {"resultType": str(kind), "result": list(result)}:
            return kind, result
        case _:
            raise EdgeError(f"could not use Prometheus's answer for {about}: it has no result")


def _labels(element: Mapping[str, Any]) -> Mapping[str, str]:
    return {str(name): str(value) for name, value in element.get("metric", {}).items()}


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        return math.nan


def _instant(value: object) -> datetime:
    return datetime.fromtimestamp(float(str(value)), UTC)
