"""Too few descriptors, too few ports: limits of the system that a generator meets before its target does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.validity.case import Launch, Place, Victim

PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


@contextmanager
def few_descriptors(_place: Place) -> Iterator[Launch]:
    """The whole program may open 64 files."""
    yield Launch(("prlimit", "--nofile=64:64"))


@contextmanager
def few_ports(_victim: Victim) -> Iterator[None]:
    """One hundred ports to send from, in a network namespace that is ours alone."""
    PORTS.write_text("40000 40099")
    yield
