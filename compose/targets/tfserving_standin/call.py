"""One request on its way through the stand-in, from arrival to answer."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Protocol


class Wire(StrEnum):
    """How a request came in."""

    REST = "rest"
    GRPC = "grpc"


class Reply(Protocol):
    """Sends an answer."""

    def __call__(self, status: int, body: bytes, content_type: bytes) -> bool:
        """Send `body` with the protocol's status number; False if the client is gone."""

    def drop(self) -> None:
        """Send nothing and leave the client alone."""


class Call:
    """Moments are seconds of the monotonic clock: `arrival` read completely, `start` let into service, `session` handed
    to the model, `run` begun by the model (after its batch queue). `asked` is the scripted service time, None if none.

    `kind` is what it is for log and counts; `model`, `api` and `runtime_api` are labels of the metric page, where only
    `counted` calls appear, and only those with a `runtime_api` have a runtime.
    """

    __slots__ = (
        "admitted",
        "api",
        "arrival",
        "asked",
        "counted",
        "kind",
        "model",
        "path",
        "reply",
        "request",
        "rows",
        "run",
        "runtime_api",
        "session",
        "start",
        "timeout",
        "version",
        "wire",
    )

    def __init__(self, wire: Wire, kind: str, path: str, arrival: float, reply: Reply) -> None:
        """A request that has just been read completely."""
        self.wire = wire
        self.kind = kind
        self.path = path
        self.arrival = arrival
        self.start = arrival
        self.session = arrival
        self.run = arrival
        self.reply = reply
        self.asked: float | None = None
        self.timeout: float | None = None
        self.request: Any = None
        self.model = ""
        self.api = ""
        self.runtime_api = ""
        self.rows = 0
        self.version = 0
        self.admitted = False
        self.counted = True
