"""Poisons that wait inside the locustfile: told by a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.validity.case import Launch, Place, Victim


@contextmanager
def armed(place: Place) -> Iterator[Launch]:
    """The locustfile knows which file to look for."""
    yield Launch((), {"VALIDITY_TRIGGER": str(place.trigger)})


@contextmanager
def pull(victim: Victim) -> Iterator[None]:
    """From now on."""
    victim.place.trigger.touch()
    try:
        yield
    finally:
        victim.place.trigger.unlink()
