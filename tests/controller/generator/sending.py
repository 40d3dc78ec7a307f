"""A sender with books of its own, for tests without a worker."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from typing import Any

from controller.generator.answers import AnswerCheck
from controller.generator.client import Client
from controller.generator.lease import Gate
from controller.generator.ledger import Ledger
from controller.generator.reasons import Reasons
from controller.generator.sender import Sender
from controller.generator.work import Check, Work
from exporters.names.loadgen import OUTCOMES

TIMEOUT = 0.4
"""Of a request, seconds."""


def sending(
    client: Callable[[], Client], request: Any, timeout: float, retries: int = 0, check: Check | None = None
) -> tuple[Sender, Work]:
    """Sends the same request each time, under a lease of some seconds."""
    gate = Gate()
    gate.grant(time.time())
    work = Work(
        requests=itertools.repeat(request),
        client=client,
        timeout=timeout,
        think=(0.0, 0.0),
        check=AnswerCheck() if check is None else check,
        gate=gate,
        ledger=Ledger(),
        reasons=Reasons(),
        random=random.Random(1),  # noqa: S311 - no secret
        retries=retries,
    )
    return Sender(work), work


def counted(work: Work) -> dict[str, int]:
    """Requests by outcome, without zeros."""
    return {name: number for name, number in zip(OUTCOMES, work.ledger.totals, strict=True) if number}
