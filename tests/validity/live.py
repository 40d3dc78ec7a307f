"""What somebody on call can see while the run is on: both metric pages, read twice a second."""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from threading import Event, Thread

PERIOD = 0.5
PATIENCE = 2.0
LINE = re.compile(r"(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
WANTED = (
    "loadgen_saturation",
    "loadgen_requests_total",
    "loadgen_dropped_arrivals_total",
    "loadgen_workers_expected",
    "loadgen_workers_connected",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a metric page, and when the page was there (epoch seconds of an undisturbed clock)."""

    at: float
    name: str
    labels: dict[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Alarm:
    """A signal at its limit, or a count that says as much by itself, as `what` of `who`."""

    at: float
    what: str
    who: str
    value: float


def parse(at: float, text: str) -> Iterator[Sample]:
    """The samples of a page that are looked at here."""
    for line in text.splitlines():
        if line.startswith(WANTED) and (found := LINE.match(line)):
            yield Sample(at, found["name"], dict(LABEL.findall(found["labels"] or "")), float(found["value"]))


def alarms(samples: Iterable[Sample]) -> Iterator[Alarm]:
    """The same conditions that the alert rules have."""
    before: dict[tuple[str, str], float] = {}
    expected = 0.0
    for sample in samples:
        labels, value = sample.labels, sample.value
        match sample.name:
            case "loadgen_saturation" if value >= 1:
                yield Alarm(sample.at, labels["signal"], labels["worker"], value)
            case "loadgen_workers_expected":
                expected = value
            case "loadgen_workers_connected" if value < expected:
                yield Alarm(sample.at, "worker_lost", "master", expected - value)
            case "loadgen_requests_total" if labels["outcome"] == "generator_error":
                yield from _grown(before, sample, "generator_errors")
            case "loadgen_dropped_arrivals_total":
                yield from _grown(before, sample, f"dropped_{labels['reason']}")


def _grown(before: dict[tuple[str, str], float], sample: Sample, what: str) -> Iterator[Alarm]:
    key = (sample.name, what)
    if (grown := sample.value - before.get(key, 0.0)) > 0:
        yield Alarm(sample.at, what, "generator", grown)
    before[key] = sample.value


class Watch(Thread):
    """Reads until told to end; a page that does not answer has no samples."""

    def __init__(self, generator: Callable[[], str | None], controller: str) -> None:
        super().__init__(name="watch", daemon=True)
        self.samples: list[Sample] = []
        self._ask, self._generator, self._controller = generator, "", controller
        self._done = Event()

    def run(self) -> None:
        while not self._done.wait(PERIOD):
            self._generator = self._generator or self._ask() or ""
            for address in filter(None, (self._generator, self._controller)):
                self.samples += parse(*_page(address))

    def end(self) -> None:
        """No more."""
        self._done.set()
        self.join(timeout=4 * PATIENCE)


def _page(address: str) -> tuple[float, str]:
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    except (OSError, http.client.HTTPException):
        text = ""
    finally:
        connection.close()
    return time.time(), text
