"""What everybody who sends in a process shares."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from controller.generator.client import Client, Reply
from controller.generator.lease import Gate
from controller.generator.ledger import Ledger
from controller.generator.reasons import Reasons
from controller.generator.recording import Recording


class Check(Protocol):
    """Judges an answer."""

    def outcome(self, request: Any, reply: Reply) -> int:
        """The outcome of a request that was answered."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """Requests, where they go, and where they are counted. `timeout` bounds connecting, sending and receiving together,
    `think` is the range of a user's uniform pause between an answer and the next request, `pacing` the time from
    request to request (0: none); all in seconds."""

    requests: Iterator[Any]  # endless; what `client` makes sends them
    client: Callable[[], Client]
    timeout: float
    think: tuple[float, float]
    check: Check
    gate: Gate
    ledger: Ledger
    reasons: Reasons
    random: random.Random
    pacing: float = 0.0
    retries: int = 0  # further attempts of a failed request
    recording: Recording | None = None  # requests that are replayed at their recorded times
