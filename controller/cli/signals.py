"""SIGINT and SIGTERM become a request to stop; the handlers from before come back afterwards."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from controller.running.loop import StopRequest


@contextmanager
def stop_on_signals(stop: StopRequest) -> Iterator[None]:
    """While inside, the first signal asks for a clean end and the next one for an end at once."""

    def ask(number: int, _frame: FrameType | None) -> None:
        stop.ask(signal.Signals(number).name)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
