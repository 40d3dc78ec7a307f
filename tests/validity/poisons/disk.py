"""Neighbours that write to the disk as fast as it takes it, and wait for it each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.validity.case import Victim
from tests.validity.poisons.neighbour import MOST_SECONDS, programs
from tests.validity.poisons.trigger import pull

WRITERS = 3
WRITE = """
import os, time
data, end = os.urandom(1 << 20), time.monotonic() + {seconds}
file = os.open({path!r}, os.O_WRONLY | os.O_CREAT, 0o600)
while time.monotonic() < end:
    os.lseek(file, 0, os.SEEK_SET)
    for _ in range(32):
        os.write(file, data)
    os.fsync(file)
"""


@contextmanager
def noisy(victim: Victim) -> Iterator[None]:
    """Beside a locustfile that keeps every answer on the same disk."""
    folder = victim.place.folder
    codes = [WRITE.format(seconds=MOST_SECONDS, path=str(folder / f"noise-{n}")) for n in range(WRITERS)]
    with pull(victim), programs(*codes):
        yield
