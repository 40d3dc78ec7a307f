"""One keep-alive HTTP/1.1 connection of one user: connect, then exchange whole requests for whole answers.

It is owned by the user, so that nothing hides between "may I send" and the bytes that leave: no pool, no redirect, no
retry, no cookie. Nothing here waits beyond the route's timeout.
"""

from __future__ import annotations

import time
from typing import Any

from controller.generator.answer import Answer, BadAnswerError, ConnectionLostError
from controller.generator.deadlines import NEVER, Wait, WaitTimeoutError
from controller.generator.route import Route
from controller.generator.stream import Stream, TlsStream

__all__ = ["Answer", "BadAnswerError", "ConnectTimeoutError", "Connection", "ConnectionLostError"]

IDLE_SECONDS = 0.01
"""A connection unused for longer is looked at before it is used again: the server may have closed it meanwhile."""


class ConnectTimeoutError(ConnectionError):
    """There was no connection within the time that the plan gives to connecting."""


class Connection:
    """A connection along one route, made when it is needed and again after it was closed."""

    __slots__ = ("_answer", "_deadlines", "_route", "_stream", "_timeout", "_used", "_wait", "unread")

    def __init__(self, route: Route) -> None:
        """To a resolved address: names are looked up once, before load, never in a request."""
        self._route = route
        self._timeout = route.timeout
        self._deadlines = route.deadlines
        self._stream: Stream | None = None
        self._wait = Wait()
        self._answer = Answer(route.most, bodiless=route.bodiless)
        self._used = 0.0
        self.unread = 0.0

    def open(self, began: float) -> None:
        """Be connected, for a request that began at `began` (`time.perf_counter`) and may last for the route's
        timeout. Raises `OSError`, also `WaitTimeoutError`, `ConnectTimeoutError` and `ssl.SSLError`."""
        stream, wait = self._stream, self._wait
        if stream is not None and began - self._used > IDLE_SECONDS and not stream.quiet():
            self.close()
            stream = None
        if stream is None:
            self._connect(began)
        wait.until = until = began + self._timeout
        if until < wait.armed:
            self._deadlines.arm(wait)

    def exchange(self, request: bytes) -> Answer:
        """Send and receive. The answer is good until the next exchange.

        Raises `OSError` (also `ConnectionLostError`, `WaitTimeoutError`) and `BadAnswerError`; then call `close`.
        """
        stream: Any = self._stream  # `open` came first
        answer = self._answer
        answer.reset()
        stream.send(request)
        receive = stream.receive
        while not answer.complete:
            if data := receive():
                answer.feed(data)
            else:
                answer.end()
        self.unread = stream.unread
        if answer.keep_alive:
            self._wait.until = NEVER
            self._used = time.perf_counter()
        else:
            self.close()
        return answer

    def close(self) -> None:
        """Be unconnected."""
        stream = self._stream
        if stream is not None:
            self._stream = None
            self._wait.until = NEVER
            stream.close()
            self._answer = Answer(self._route.most, bodiless=self._route.bodiless)

    def end(self) -> None:
        """Be unconnected for good."""
        self.close()

    def _connect(self, began: float) -> None:
        route = self._route
        family, wait = route.family, self._wait
        limit = min(route.connect or route.timeout, route.timeout)
        wait.until = began + limit
        if wait.until < wait.armed:
            route.deadlines.arm(wait)
        stream = Stream(family, wait) if route.tls is None else TlsStream(family, wait, route.tls, route.name)
        try:
            stream.connect(route.sockaddr, tcp=route.is_tcp)
            self._stream = stream
        except WaitTimeoutError:
            if limit < route.timeout:
                raise ConnectTimeoutError(f"no connection within {limit:g} s") from None
            raise
        finally:
            if self._stream is None:  # whatever ended it, a half-made connection is not kept
                wait.until = NEVER
                stream.close()


class RecordedConnection(Connection):
    """Sends requests of any method: an answer to HEAD announces a body that does not come."""

    __slots__ = ()

    def exchange(self, request: bytes) -> Answer:
        """As any connection."""
        self._answer.bodiless = request.startswith(b"HEAD ")
        return super().exchange(request)
