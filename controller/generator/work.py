"""What everybody who sends in a process shares."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from controller.generator.answers import AnswerCheck
from controller.generator.lease import Gate
from controller.generator.ledger import Ledger
from controller.generator.reasons import Reasons


@dataclass(frozen=True, slots=True)
class Work:
    """Requests, where they go, and where they are counted. `timeout` bounds connecting, sending and receiving together,
    `think` is the range of a user's uniform pause between an answer and the next request, `pacing` the time from
    request to request (0: none); all in seconds."""

    requests: Iterator[bytes]  # endless
    family: int
    sockaddr: Any
    timeout: float
    think: tuple[float, float]
    check: AnswerCheck
    gate: Gate
    ledger: Ledger
    reasons: Reasons
    random: random.Random
    pacing: float = 0.0
