"""The MetricStore over Prometheus's HTTP API: every odd answer has a meaning or an `EdgeError` with a sentence."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import requests

from controller.edges import prometheus_answer
from controller.edges.http_cause import cause
from controller.ports import EdgeError, Sample, Series

TRIES = 3
"""Of a question that a busy server or a proxy could not answer."""

HALVINGS = 8
"""How often a span may be halved when it holds more samples than the server wants to load."""

SKEW_SECONDS = 10.0
"""Clocks further apart than this are named."""

WARNINGS_KEPT = 50


class TooManySamplesError(EdgeError):
    """The span holds more samples than the server loads at once."""


@dataclass(slots=True)
class PrometheusHttp:
    """`connect` and `read` are the time limits of one question, in seconds."""

    url: str
    connect: float = 2.0
    read: float = 10.0
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _warnings: dict[str, None] = field(default_factory=dict)

    def instant(self, expression: str, at: datetime | None = None) -> Sequence[Sample]:
        """Evaluate at an instant (default: now). NaN and infinite values are kept, no data is an empty answer."""
        question = {"query": expression} | ({"time": _stamp(at)} if at else {})
        samples, left_out = prometheus_answer.samples(self._ask("query", question, expression), expression)
        self._warn_left_out(left_out, expression)
        if at is None and samples:
            self._warn_skew(samples[0].at)
        return samples

    def range(self, expression: str, start: datetime, end: datetime, step: timedelta) -> Sequence[Series]:
        """Evaluate every `step` from `start` to `end`, both included."""
        question = {"query": expression, "start": _stamp(start), "end": _stamp(end), "step": str(step.total_seconds())}
        series, left_out = prometheus_answer.matrix(self._ask("query_range", question, expression), expression)
        self._warn_left_out(left_out, expression)
        return series

    def raw(self, selector: str, start: datetime, end: datetime) -> Sequence[Series]:
        """Stored samples with their own timestamps in `(start, end]`; a span too large for the server is halved."""
        return self._raw(selector, start, end, HALVINGS)

    def names(self, selector: str, start: datetime, end: datetime) -> Sequence[str]:
        """Metric names with a series that the selector (in braces) matches in the span, sorted."""
        question = {"match[]": selector, "start": _stamp(start), "end": _stamp(end)}
        found = self._ask("label/__name__/values", question, selector, method="GET")
        return sorted(name for name in found if isinstance(name, str)) if isinstance(found, list) else []

    def active_targets(self, job: str) -> Mapping[str, str]:
        """Scrape URL to health (`up`, `down`, `unknown`) of every active target of a job."""
        data = self._ask("targets", {"state": "active"}, f"the targets of {job}", method="GET")
        targets = data.get("activeTargets", []) if isinstance(data, dict) else []
        return {
            target.get("scrapeUrl", ""): target.get("health", "unknown")
            for target in targets
            if target.get("labels", {}).get("job") == job
        }

    def ready(self) -> bool:
        """Whether Prometheus answers queries now."""
        try:
            return self._send("GET", "/-/ready", {}).status_code == 200
        except requests.RequestException:
            return False

    def warnings(self) -> Sequence[str]:
        """What the server warned of so far (partial data…), and odd answers that were passed over; each once."""
        return list(self._warnings)

    def _raw(self, selector: str, start: datetime, end: datetime, halvings: int) -> Sequence[Series]:
        span = round((end - start).total_seconds() * 1000)
        if span <= 0:
            return []
        question = {"query": f"{selector}[{span}ms]", "time": _stamp(end)}
        try:
            series, left_out = prometheus_answer.matrix(self._ask("query", question, selector), selector)
        except TooManySamplesError:
            if halvings == 0:
                raise
            middle = start + (end - start) / 2
            halves = [self._raw(selector, *part, halvings - 1) for part in ((start, middle), (middle, end))]
            return prometheus_answer.joined(halves)
        self._warn_left_out(left_out, selector)
        first = start.timestamp()
        cut = (Series(found.labels, [point for point in found.points if point[0] > first]) for found in series)
        return [found for found in cut if found.points]

    def _ask(self, path: str, question: Mapping[str, str], about: str, *, method: str = "POST") -> Any:
        doing = f"could not ask Prometheus at {self.url} for {about}"
        for left in reversed(range(TRIES)):
            try:
                answer = self._send(method, f"/api/v1/{path}", question)
            except requests.Timeout as error:
                raise EdgeError(f"{doing}: no answer within {self.read:g} s") from error
            except requests.RequestException as error:
                raise EdgeError(f"{doing}: {cause(error)}; is it running?") from error
            if answer.status_code not in (502, 503, 504) or left == 0:
                break
            time.sleep(0.2 * (TRIES - left))
        return self._data(answer, doing)

    def _send(self, method: str, path: str, question: Mapping[str, str]) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            return session.request(
                method,
                self.url.rstrip("/") + path,
                params=question if method == "GET" else None,
                data=question if method == "POST" else None,
                timeout=(self.connect, self.read),
                allow_redirects=False,
            )

    def _data(self, answer: requests.Response, doing: str) -> Any:
        try:
            body = answer.json()
        except ValueError as error:
            said = " ".join(answer.text[:100].split())
            raise EdgeError(f"{doing}: {answer.status_code}, not JSON but {said!r}; is this its address?") from error
        if not isinstance(body, dict) or body.get("status") != "success":
            body = body if isinstance(body, dict) else {}
            said = f"{doing}: {answer.status_code} {body.get('errorType', 'error')}: {body.get('error', 'no reason')}"
            if "too many samples" in said:
                raise TooManySamplesError(f"{said}; ask for a shorter span or raise --query.max-samples")
            raise EdgeError(said)
        for text in body.get("warnings") or ():
            self._warn(f"Prometheus warned: {text}")
        return body.get("data")

    def _warn_left_out(self, number: int, about: str) -> None:
        if number:
            self._warn(f"{number} native histograms were left out of the answer for {about}")

    def _warn_skew(self, at: datetime) -> None:
        ahead = (at - self.now()).total_seconds()
        if abs(ahead) > SKEW_SECONDS:
            word = "ahead of" if ahead > 0 else "behind"
            self._warn(f"the clock of Prometheus is {abs(ahead):.0f} s {word} ours; set both by a time server")

    def _warn(self, text: str) -> None:
        if len(self._warnings) < WARNINGS_KEPT:
            self._warnings[text] = None


def _stamp(at: datetime) -> str:
    return f"{at.timestamp():.3f}"
