"""Ask a Prometheus for the panels' series over a run."""

from __future__ import annotations

import http.client
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from dashboards.board import Board
from dashboards.panel import Kind
from dashboards.queries import expressions, rate_window
from dashboards.report.series import Answer, Answers, Line

TIMEOUT = 15.0
"""Seconds for one answer."""

MOST_POINTS = 600
"""Instants on the time axis: about one for two pixels of a wide screen."""


class StoreError(Exception):
    """Prometheus gave no answer; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Span:
    """The part of time that is asked for; epoch seconds."""

    start: float
    end: float
    scrape_interval: float

    @property
    def step(self) -> float:
        """Seconds between two instants: the scrape interval, or a multiple of it for long runs."""
        return self.scrape_interval * max(1, math.ceil((self.end - self.start) / self.scrape_interval / MOST_POINTS))


WITH_TIME_AXIS = frozenset({Kind.LINES, Kind.HEATMAP})
"""What the report draws."""


def fetch(
    url: str, board: Board, span: Span, values: Mapping[str, str], kinds: Collection[Kind] = WITH_TIME_AXIS
) -> Answers:
    """The answers to every query of the board's panels of these kinds, over time.

    A query that fails says so in its answer; once Prometheus cannot be reached, the others are not tried any more.
    `values` are variables' values; those left out stand for everything.
    """
    window = rate_window(span.step, span.scrape_interval)
    start = math.floor(span.start / span.step) * span.step
    end = start + math.ceil((span.end - start) / span.step) * span.step
    empty = Answers(_without_login(url), start, end, span.step, window, ())
    answers: list[Answer] = []
    unreachable: str | None = None
    for asked in expressions(board, window, values, span.end - span.start, span.step):
        if asked.panel.kind not in kinds:
            continue
        lines: tuple[Line, ...] = ()
        failure = unreachable
        if not unreachable:
            try:
                lines = _lines(url, asked.expr, empty)
            except StoreError as error:
                failure = str(error)
            except OSError as error:
                failure = unreachable = f"could not reach Prometheus at {empty.source}: {error}"
        answers.append(Answer(asked.key, asked.ref, asked.query.expr, lines, failure))
    return replace(empty, answers=tuple(answers))


def _lines(url: str, expr: str, answers: Answers) -> tuple[Line, ...]:
    asked = {"query": expr, "start": answers.start, "end": answers.end, "step": answers.step}
    body = _post(urlsplit(url), "/api/v1/query_range", urlencode(asked))
    if body.get("status") != "success":
        raise StoreError(f"Prometheus refused the query: {body.get('error', 'no reason given')}")
    grid = answers.grid
    return tuple(_line(series, grid) for series in body["data"]["result"])


def _line(series: Mapping[str, Any], grid: tuple[float, ...]) -> Line:
    at = {round(float(when), 3): _number(text) for when, text in series["values"]}
    labels = {key: label for key, label in series["metric"].items() if key != "__name__"}
    return Line(labels, tuple(at.get(round(when, 3)) for when in grid))


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _post(url: SplitResult, path: str, body: str) -> dict[str, Any]:
    if url.scheme not in ("http", "https") or url.hostname is None:
        raise OSError(f"{url.geturl()} is not an http address")
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname, url.port, timeout=TIMEOUT)
    try:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", url.path.rstrip("/") + path, body, headers)
        answer = connection.getresponse()
        found: dict[str, Any] = json.loads(answer.read())
    except (http.client.HTTPException, ValueError) as error:
        raise OSError(f"it does not answer like a Prometheus: {error}") from error
    finally:
        connection.close()
    return found


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
