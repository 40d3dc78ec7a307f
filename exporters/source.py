"""One thing that can be read, and a collector made of several: a failure stays inside its source and is measured."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from exporters.family import Family

logger = logging.getLogger(__name__)

Reading = TypeVar("Reading")


@dataclass(frozen=True, slots=True)
class Source(Generic[Reading]):
    """A named reader: `read` touches the world, `families` is pure.

    `read` gets its previous reading (None at first) for counters that the kernel lets step back; it returns None when
    this machine has nothing to read, and raises when it should have.
    """

    name: str
    read: Callable[[Reading | None], Reading | None]
    families: Callable[[Reading], Iterable[Family]]


@dataclass(frozen=True, slots=True)
class Result:
    """What one source gave in one sample; `failure` is a reason from a small set, or empty."""

    source: str
    seconds: float
    failure: str
    families: tuple[Family, ...]


@dataclass(slots=True)
class Collector:
    """A named set of sources that are sampled together; `close` releases what they hold."""

    name: str
    sources: tuple[Source[Any], ...]
    close: Callable[[], None] = lambda: None
    _previous: dict[str, Any] = field(default_factory=dict)
    _failing: dict[str, str] = field(default_factory=dict)

    def sample(self) -> tuple[Result, ...]:
        """Read every source once; never raises."""
        return tuple(self._take(source) for source in self.sources)

    def _take(self, source: Source[Any]) -> Result:
        started = time.perf_counter()
        families: tuple[Family, ...] = ()
        failure = ""
        try:
            reading = source.read(self._previous.get(source.name))
            self._previous[source.name] = reading
            families = () if reading is None else _plausible(tuple(source.families(reading)))
        except Exception as error:  # noqa: BLE001 - the one place that keeps a sick source off everybody else's page
            failure = reason(error)
            self._note(source.name, failure, error)
        else:
            self._note(source.name, "", None)
        return Result(source.name, time.perf_counter() - started, failure, families)

    def _note(self, source: str, failure: str, error: Exception | None) -> None:
        """One log line when a source begins to fail or fails differently, one when it works again."""
        if self._failing.get(source, "") == failure:
            return
        self._failing[source] = failure
        if error is None:
            logger.info("source works again collector=%s source=%s", self.name, source)
        else:
            logger.warning(
                "could not read source: %s collector=%s source=%s reason=%s", error, self.name, source, failure
            )


def _plausible(families: tuple[Family, ...]) -> tuple[Family, ...]:
    """The families as they are; raises ValueError for a counter below zero, which would make rates of nonsense."""
    for family in families:
        if family.metric.kind == "counter":
            for _, value in family.samples:
                if value < 0:
                    raise ValueError(f"{family.metric.name} is below zero")
    return families


def reason(error: Exception) -> str:
    """A failure's reason from a closed set, fit for a label."""
    match error:
        case PermissionError():
            return "permission"
        case FileNotFoundError():
            return "missing"
        case OSError():
            return "operating_system"
        case ValueError() | IndexError() | KeyError() | UnicodeError():
            return "malformed"
        case _:
            return "internal"
