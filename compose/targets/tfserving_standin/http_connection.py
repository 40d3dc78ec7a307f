"""Speaks HTTP/1.x with one client: reads whole requests, answers them in order, survives whatever clients do."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import cast

import httptools

from .http_answers import HTML, error_page, head
from .http_request import HttpRequest

HEAD_LIMIT = 65536
WANTED = frozenset({b"content-encoding", b"origin", b"content-length", b"transfer-encoding", b"expect"})
BACKLOG = 16
"""Pipelined requests read ahead; more wait in the socket."""


class Site:
    """What connections belong to: where requests go, how large they may be, who is connected."""

    def __init__(
        self, handle: Callable[[HttpRequest], None], lost: Callable[[], None], limit: int, *, cors: bool
    ) -> None:
        """`lost` is told of connections that end in the middle of a request; `limit` is in bytes of body."""
        self.handle = handle
        self.lost = lost
        self.limit = limit
        self.cors = cors
        self.connections: set[HttpConnection] = set()

    def close(self) -> None:
        """Drop everybody."""
        for connection in list(self.connections):
            connection.abort()


class HttpConnection(asyncio.Protocol):
    """One client. Requests are answered one after the other; what is pipelined meanwhile waits its turn."""

    def __init__(self, site: Site) -> None:
        """Wait for `connection_made`."""
        self._site = site
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[HttpRequest] = deque()
        self._busy = False
        self._ending = False
        self._paused = False
        self._reading = False
        self._now = 0.0
        self.peer = ""
        self._clear()

    def _clear(self) -> None:
        self._url = b""
        self._parts: list[bytes] = []
        self._size = 0
        self._head_size = 0
        self._origin = ""
        self._gzipped = False
        self._announced = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        self.peer = name[0] if isinstance(name, tuple) else ""
        self._site.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the reason changes nothing
        """Called by the event loop."""
        self._transport = None
        self._waiting.clear()
        self._site.connections.discard(self)
        if self._reading and not self._ending:
            self._site.lost()

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        if self._ending:
            return
        self._now = time.monotonic()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._end()  # the request itself has been read; what follows would be another protocol
        except httptools.HttpParserError:
            self._refuse(400)

    def pause_writing(self) -> None:
        """Called by the event loop: the client does not read its answers, so read none of its requests."""
        self._pause()

    def resume_writing(self) -> None:
        """Called by the event loop."""
        self._resume()

    def on_message_begin(self) -> None:
        """Called by the parser."""
        self._clear()
        self._reading = True

    def on_url(self, url: bytes) -> None:
        """Called by the parser, perhaps in pieces."""
        self._url += url
        self._grow_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser."""
        self._grow_head(len(name) + len(value))
        lowered = name.lower()
        if lowered not in WANTED:
            return
        match lowered:
            case b"content-encoding":
                self._gzipped = b"gzip" in value
            case b"origin":
                self._origin = value.decode("latin-1")
            case b"content-length":
                self._announced = value != b"0"
                if value.isdigit() and int(value) > self._site.limit:
                    self._refuse(413)
            case b"transfer-encoding":
                self._announced = True
            case b"expect":
                if value.lower() == b"100-continue" and self._transport is not None and not self._ending:
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, data: bytes) -> None:
        """Called by the parser, once for each piece."""
        self._size += len(data)
        if self._size > self._site.limit:
            self._refuse(413)
        elif not self._ending:
            self._parts.append(data)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        self._reading = False
        if self._ending:
            return
        parser = self._parser
        if parser.should_upgrade() and self._announced:
            self._refuse(400)  # the parser takes the body for the other protocol's, so the request cannot be known
            return
        request = HttpRequest(
            self,
            parser.get_method().decode("latin-1"),
            self._url.decode("latin-1"),
            old=parser.get_http_version() == "1.0",
            stays=parser.should_keep_alive(),
        )
        request.body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        request.gzipped, request.origin, request.arrival = self._gzipped, self._origin, self._now
        if self._busy:
            self._waiting.append(request)
            if len(self._waiting) >= BACKLOG:
                self._pause()
        else:
            self._busy = True
            self._site.handle(request)

    def answer(self, request: HttpRequest, status: int, body: bytes, content_type: bytes, *, stays: bool) -> bool:
        """Send one answer and turn to the next request; False if the client is gone."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        stays = stays and not self._ending
        start = request.head(status, content_type, len(body), stays=stays, cors=self._site.cors)
        transport.write(start if request.method == "HEAD" else start + body)
        if not stays:
            self._ending = True
            transport.close()
            return True
        self._busy = False
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
            self._busy = True
        return True

    def abort(self) -> None:
        """Drop the client without a word."""
        if self._transport is not None:
            self._transport.abort()

    def _next(self) -> None:
        self._resume()
        if self._waiting:
            self._site.handle(self._waiting.popleft())
        else:
            self._busy = False

    def _grow_head(self, size: int) -> None:
        self._head_size += size
        if self._head_size > HEAD_LIMIT:
            self._refuse(400)

    def _refuse(self, status: int) -> None:
        """Answer something that is no proper request, and part; an answer in progress goes out first, and alone."""
        if self._ending or self._transport is None:
            return
        if not self._busy:
            page = error_page(status)
            start = head(status, HTML, len(page), old=False, stays=False, cors=False, second=int(time.time()))
            self._transport.write(start + page)
        self._end()

    def _end(self) -> None:
        """Read nothing more, and part after the answer in progress."""
        self._ending = True
        self._waiting.clear()
        if not self._busy and self._transport is not None:
            self._transport.close()

    def _pause(self) -> None:
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._paused and self._transport is not None and len(self._waiting) < BACKLOG:
            self._paused = False
            self._transport.resume_reading()
