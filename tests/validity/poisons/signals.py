"""Processes that stand still for a while, or end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.validity.case import Victim

FROZEN_SECONDS = 2.0


@contextmanager
def freeze_worker(victim: Victim) -> Iterator[None]:
    """A worker is stopped for two seconds."""
    pid = victim.workers()[0]
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(FROZEN_SECONDS)
    finally:
        os.kill(pid, signal.SIGCONT)
    yield


@contextmanager
def kill_worker(victim: Victim) -> Iterator[None]:
    """A worker ends without a word."""
    os.kill(victim.workers()[0], signal.SIGKILL)
    yield
