"""Writes pages for scrapes: what a sample says is written once, however many scrape it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from exporters import page, text
from exporters.page import SelfReading
from exporters.sampler import Sampled, State


class Written:
    """The newest sample's lines by collector and format; concurrent scrapes wait for one writing and share it."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self._kept: dict[tuple[str, bool], tuple[Sampled, bytes]] = {}
        self._lock = threading.Lock()

    def page(self, states: Sequence[State], own: SelfReading, accept: str) -> tuple[bytes, str]:
        """The page in the format that `accept` (the request's header) asks for, and its content type."""
        openmetrics = text.asked(accept)
        parts = [self._lines(state.collector, state.sample, openmetrics) for state in states if state.sample]
        parts += [text.lines(page.about(states, own), openmetrics), text.end(openmetrics)]
        return b"".join(parts), text.content_type(openmetrics)

    def _lines(self, collector: str, sample: Sampled, openmetrics: bool) -> bytes:
        with self._lock:
            of, written = self._kept.get((collector, openmetrics), (None, b""))
            if of is not sample:
                written = text.lines(page.measured(sample.results), openmetrics)
                self._kept[collector, openmetrics] = sample, written
            return written
