"""The real exporter as a process of its own, on a free port of the loopback."""

from __future__ import annotations

import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.request import Request, urlopen

from prometheus_client.parser import text_string_to_metric_families

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]
"""Sample name and sorted labels to value."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """A running exporter and its address."""

    process: subprocess.Popen[str]
    url: str

    def get(self, path: str = "/metrics", **headers: str) -> tuple[str, str]:
        """Body and content type of an answer."""
        with urlopen(Request(self.url + path, headers=headers), timeout=5) as answer:  # noqa: S310 - loopback
            return answer.read().decode(), answer.headers["Content-Type"]

    def series(self) -> Series:
        """Everything that a scrape gets now."""
        return parse(self.get()[0])

    def until(self, holds: object, seconds: float = 10.0) -> Series:
        """Scrape until `holds(series)`, at most `seconds`; the last scrape."""
        assert callable(holds)
        ends = time.monotonic() + seconds
        while not holds(series := self.series()):
            assert time.monotonic() < ends, f"not seen within {seconds} s; last: {sorted(series)}"
            time.sleep(0.05)
        return series


def parse(page: str) -> Series:
    """The samples of a page."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def names(series: Series, prefix: str) -> set[str]:
    """The names of a scrape that begin so."""
    return {name for name, _ in series if name.startswith(prefix)}


@contextmanager
def an_exporter(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Exporter]:
    """Start, wait until it is ready, stop."""
    command = [sys.executable, "-m", "exporters", *arguments, "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        readable, _, _ = select.select([process.stdout], [], [], 20)
        line = process.stdout.readline() if readable else ""
        assert line.startswith(("ready http://127.0.0.1:", "ready https://127.0.0.1:")), f"the exporter said {line!r}"
        yield Exporter(process, line.split()[1].removesuffix("/metrics"))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
