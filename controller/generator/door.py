"""How workers of other hosts come in: they knock on the master's sealed channel and get a place, or are turned away."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from controller.generator import wire
from controller.generator.cargo import pack
from controller.generator.http_request import SpecError
from controller.generator_spec import GeneratorSpec

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """A remote worker's name and part of the pool."""

    name: str
    part: int
    host: str


class Door:
    """Of one master. A place that was lost can be taken by somebody else, under another name."""

    def __init__(self, spec: GeneratorSpec, tell: Callable[[str, str, dict[str, Any]], None]) -> None:
        """`tell` sends to an address on Locust's channel a kind of message and its content."""
        self._spec, self._tell = spec, tell
        self._free = list(range(spec.workers - spec.remote, spec.workers))
        self._places: dict[str, Place] = {}  # by address
        self._come = 0

    def on_knock(self, msg: Any, **_: Any) -> None:
        """A worker asks for a place; it asks again until it has an answer."""
        address, host = msg.node_id, str(msg.data["host"])[:100]
        if (theirs := str(msg.data["version"])) != (ours := version("stagelight")):
            self._turn_away(address, f"it is Stagelight {theirs}, and the master is {ours}; update one of them")
        elif address not in self._places and not self._free:
            self._turn_away(address, f"all {self._spec.remote} places for workers of other hosts are taken")
        else:
            try:
                cargo = pack(self._spec)
            except SpecError as error:
                self._turn_away(address, str(error))
                return
            place = self._places.get(address) or self._seat(address, host)
            self._tell(address, wire.WELCOME, {"name": place.name, "part": place.part, **cargo})

    def expects(self, name: str) -> bool:
        """Whether a worker of that name was given a place."""
        return any(place.name == name for place in self._places.values())

    def host_of(self, name: str) -> str | None:
        """Where that worker is; None for one of this host."""
        return next((place.host for place in self._places.values() if place.name == name), None)

    def lost(self, name: str) -> None:
        """That worker does not answer: somebody else may have its place."""
        for place in self._places.values():
            if place.name == name and place.part not in self._free:
                self._free.append(place.part)

    def _seat(self, address: str, host: str) -> Place:
        part = self._free.pop(0)
        again = any(place.part == part for place in self._places.values())
        self._come += 1
        place = Place(f"worker-{part}-{self._come}" if again else f"worker-{part}", part, host)
        self._places[address] = place
        log.info("%s comes from %s", place.name, host)
        return place

    def _turn_away(self, address: str, why: str) -> None:
        log.warning("a worker of another host was turned away: %s", why)
        self._tell(address, wire.TURNED_AWAY, {"why": why})
