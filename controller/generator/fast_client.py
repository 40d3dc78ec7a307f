"""The client of Locust's FastHttpUser (geventhttpclient) behind our recording, to compare or to fall back to.

It costs several times the CPU of the lean client, and it opens a connection anew, without telling, when a kept one was
closed by the server. Redirects and retries are off.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from gevent import Timeout
from geventhttpclient.response import HTTPConnectionClosed, HTTPParseError
from locust.contrib.fasthttp import LocustUserAgent

from controller.generator.answer import BadAnswerError, ConnectionLostError
from controller.generator.deadlines import WaitTimeoutError
from controller.generator.http_request import FastRequest
from controller.generator.route import Route


@dataclass(frozen=True, slots=True)
class FastReply:
    """A whole answer."""

    status: int
    body: bytes
    headers: Any

    def header(self, name: bytes) -> bytes | None:
        """A header's value by its name in lower case."""
        value = self.headers.get(name.decode())
        return None if value is None else str(value).encode("latin-1")


class _Agent(LocustUserAgent):
    def _verify_status(self, status_code: int, url: Any = None) -> None:
        """Every status is an answer."""

    def _handle_error(self, e: BaseException, url: Any = None) -> BaseException:  # noqa: ARG002
        """No error is swallowed or renamed."""
        raise e


class FastConnection:
    """A pool of one connection."""

    __slots__ = ("_agent", "_began", "_route")
    unread = 0.0

    def __init__(self, route: Route) -> None:
        """Nothing is connected yet."""
        self._route = route
        self._began = 0.0
        self._agent = self._made()

    def open(self, began: float) -> None:
        """It connects when it sends: connecting and sending cannot be told apart here."""
        self._began = began

    def exchange(self, request: FastRequest) -> FastReply:
        """Raises `OSError` (also `WaitTimeoutError`) and `BadAnswerError`."""
        left = self._began + self._route.timeout - time.perf_counter()
        timeout = Timeout.start_new(max(left, 0.0), WaitTimeoutError("no answer in time"))
        try:
            answer = self._agent.urlopen(
                request.url, method=request.method, headers=dict(request.headers), payload=request.body or None
            )
            body = bytes(answer.content or b"")
            status, headers = int(answer.status_code), answer.headers
            answer.release()
        except HTTPConnectionClosed as error:
            raise ConnectionLostError("the server closed the connection before its answer was complete") from error
        except (HTTPParseError, HTTPException, ValueError) as error:
            raise BadAnswerError(f"{type(error).__name__}: {error}") from error
        finally:
            timeout.close()
        if len(body) > self._route.most:
            raise BadAnswerError(f"the answer is larger than {self._route.most:,} bytes")
        return FastReply(status, body, headers)

    def close(self) -> None:
        """Drop the connection."""
        self._agent.close()
        self._agent = self._made()

    def end(self) -> None:
        """Drop the connection for good."""
        self._agent.close()

    def _made(self) -> Any:
        route = self._route
        more: dict[str, Any] = {"connection_timeout": route.connect or route.timeout, "network_timeout": route.timeout}
        if route.tls is not None:
            more["ssl_context_factory"] = lambda: route.tls
        return _Agent(max_redirects=0, max_retries=0, concurrency=1, **more)
