"""What a worker's and the master's signals are made of, without processes."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from exporters.loadgen_lookups import SLOW_SECONDS, Resolver

MADE_OF = """
from dataclasses import dataclass, field
from controller.generator.book import Book
from controller.generator.ledger import CONNECTION_ERROR, GENERATOR_ERROR, OK, Ledger
from controller.generator.loads import Loads
from controller.generator.master_pulse import worker_silence
from controller.generator.reasons import Reasons

@dataclass
class Work:
    ledger: Ledger = field(default_factory=Ledger)
    reasons: Reasons = field(default_factory=Reasons)

@dataclass
class Crew:
    running: int = 3
    asked: int = 4
    behind: float = 0.25

work = Work()
loads = Loads(work, Crew())
for outcome in (OK, OK, GENERATOR_ERROR, CONNECTION_ERROR):
    work.ledger.end(work.ledger.begin(), outcome, 100)
work.reasons.note(GENERATOR_ERROR, OSError(24, "no descriptor"))
work.reasons.note(CONNECTION_ERROR, OSError(104, "reset"))
rows = [(0, True, 5, {"no_lease": 1, "no_slot": 2}, {100: 3}, 300), (0, False, 1, {}, {100: 1}, 100)]
first, second = loads.take(rows), loads.take([])
assert (first.requests, first.faults, first.due, first.unsent, dict(first.lateness)) == (4, 1, 6, 1, {100: 4}), first
assert (first.asked, first.running, first.behind) == (4, 3, 0.25)
assert (second.requests, second.faults, second.due) == (0, 0, 0)

book = Book()
assert worker_silence(book, 5.0, 2.5) == 0.0
book.join("worker-0", "a", 10.0)
book.join("worker-1", "b", 11.0)
assert worker_silence(book, 11.5, 2.5) == 1.5
book.give_up("worker-1", 11.5)
assert worker_silence(book, 11.6, 2.5) == 2.5
assert worker_silence(book, 15.0, 2.5) == 5.0
print("agreed")
"""


def test_counts_of_a_second_are_differences_and_a_lost_worker_stays_at_the_limit() -> None:
    """In a process of its own: what runs in Locust patches the interpreter."""
    done = subprocess.run([sys.executable, "-c", MADE_OF], capture_output=True, text=True, check=False)
    assert done.stdout == "agreed\n", done.stderr


class Slow:
    """A resolver whose answers take a while."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.seen: Resolver | None = None
        self.while_waiting = 0

    def getaddrinfo(self, host: str, *_: Any, **__: Any) -> list[str]:
        time.sleep(self.seconds)
        if self.seen is not None:
            self.while_waiting = self.seen.take()
        if host == "nowhere":
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [host]

    def close(self) -> str:
        return "closed"


def test_slow_names_are_counted_while_they_are_waited_for_and_once_they_came() -> None:
    inner = Slow(1.5 * SLOW_SECONDS)
    resolver = inner.seen = Resolver(inner)
    assert resolver.getaddrinfo("model", 80) == ["model"]
    assert (inner.while_waiting, resolver.take(), resolver.take()) == (1, 1, 0)
    with pytest.raises(socket.gaierror):
        resolver.getaddrinfo("nowhere", 80)
    assert resolver.take() == 1
    assert resolver.close() == "closed"


def test_quick_names_do_not_count() -> None:
    resolver = Resolver(Slow(0.0))
    resolver.getaddrinfo("model", 80)
    assert resolver.take() == 0


def test_names_descriptors_and_ports_are_this_machines_and_not_the_targets() -> None:
    code = (
        "from controller.generator.failures import outcome_of; from controller.generator.ledger import *\n"
        "import socket\n"
        f"ours = (socket.gaierror(-2, 'x'), *(OSError(n, 'x') for n in {sorted(_OURS)}))\n"
        "assert all(outcome_of(error) == GENERATOR_ERROR for error in ours)\n"
        f"assert outcome_of(OSError({errno.ECONNREFUSED}, 'x')) == CONNECTION_ERROR\nprint('agreed')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "agreed\n", done.stderr


_OURS = {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.EADDRINUSE, errno.ENOBUFS, errno.ENOMEM}
