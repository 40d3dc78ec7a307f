"""One HTTP request that was read completely, and the way back to its client."""

from __future__ import annotations

import time
from typing import Protocol

from .http_answers import head


class Connection(Protocol):
    """What a request needs of the connection it came in on."""

    peer: str

    def answer(self, request: HttpRequest, status: int, body: bytes, content_type: bytes, *, stays: bool) -> bool:
        """Send an answer; False if the client is gone."""

    def abort(self) -> None:
        """Drop the client without a word."""


class HttpRequest:
    """A request that was read completely. Calling it answers it."""

    __slots__ = ("_connection", "_old", "_stays", "arrival", "body", "gzipped", "method", "origin", "target")

    def __init__(self, connection: Connection, method: str, target: str, *, old: bool, stays: bool) -> None:
        """`old` for HTTP/1.0, `stays` if the client wants to keep the connection."""
        self._connection = connection
        self._old = old
        self._stays = stays
        self.method = method
        self.target = target
        self.body = b""
        self.origin = ""
        self.gzipped = False
        self.arrival = 0.0

    @property
    def peer(self) -> str:
        """The client's address."""
        return self._connection.peer

    def __call__(self, status: int, body: bytes, content_type: bytes, *, close: bool = False) -> bool:
        """Send the answer; False if the client is gone."""
        return self._connection.answer(self, status, body, content_type, stays=self._stays and not close)

    def drop(self) -> None:
        """Close the connection instead of answering."""
        self._connection.abort()

    def head(self, status: int, content_type: bytes, length: int, *, stays: bool, cors: bool) -> bytes:
        """The head of its answer."""
        return head(status, content_type, length, old=self._old, stays=stays, cors=cors, second=int(time.time()))
