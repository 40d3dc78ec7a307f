"""One keep-alive HTTP/1.1 connection of one user: connect, then exchange whole requests for whole answers.

It is owned by the user, so that nothing hides between "may I send" and the bytes that leave: no pool, no redirect, no
retry, no cookie. The parser is httptools (llhttp).
"""

from __future__ import annotations

import socket
import time
from typing import Any

import httptools
from gevent import socket as green

RECEIVE_BYTES = 32 * 1024
MOST_ANSWER_BYTES = 64 * 1024 * 1024
"""An answer that grows beyond this is given up as invalid: it would take the memory of the generator."""

IDLE_SECONDS = 0.01
"""A connection unused for longer is looked at before it is used again: the server may have closed it meanwhile."""


class ConnectionLostError(ConnectionError):
    """The connection ended before the answer did."""


class BadAnswerError(Exception):
    """What came back is not an HTTP answer, or none that can be kept."""


class Answer:
    """An answer as the parser meets it; `complete` is set by its last byte."""

    __slots__ = ("_parser", "_parts", "_size", "begun", "complete", "head", "keep_alive", "status")

    def __init__(self) -> None:
        """Nothing received yet."""
        self.status = 0
        self.begun = False  # all headers of the answer are here
        self.complete = False
        self.keep_alive = False
        self.head = b""  # what was received until the headers were complete, and some of the body
        self._parts: list[bytes] = []
        self._size = 0
        self._parser: Any = httptools.HttpResponseParser(self)

    @property
    def body(self) -> bytes:
        """Everything received of the body."""
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def feed(self, data: bytes) -> None:
        """Take what was received. Raises `BadAnswerError`."""
        if not self.begun:
            self.head += data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.keep_alive = False  # the stream cannot be trusted any more
            if not self.complete:  # otherwise there are bytes after the answer, and the answer counts
                raise BadAnswerError(str(error.__context__ or error)) from error

    def end(self) -> None:
        """The server closed: the end of an answer without a length, otherwise `ConnectionLostError`."""
        fields = self.head.partition(b"\r\n\r\n")[0].lower()
        if not self.begun or b"\r\ncontent-length:" in fields or b"\r\ntransfer-encoding:" in fields:
            raise ConnectionLostError("the server closed the connection before its answer was complete")
        self.complete = True

    def on_message_begin(self) -> None:
        """The parser met the first byte of an answer; one after the last of ours is not for us."""
        if self.complete:
            raise BadAnswerError("the server sent more than one answer")

    def on_headers_complete(self) -> None:
        """The parser met the empty line; interim answers (1xx) come before the answer."""
        self.status = self._parser.get_status_code()
        self.begun = self.status >= 200

    def on_body(self, data: bytes) -> None:
        """The parser found a piece of the body."""
        self._size += len(data)
        if self._size > MOST_ANSWER_BYTES:
            raise BadAnswerError(f"the answer is larger than {MOST_ANSWER_BYTES // 2**20} MiB")
        self._parts.append(data)

    def on_message_complete(self) -> None:
        """The parser met the end of a message; it knows only here whether the connection may be used again."""
        if self.begun:
            self.complete, self.keep_alive = True, self._parser.should_keep_alive()


class Connection:
    """A connection to one address, made when it is needed and again after it was closed."""

    __slots__ = ("_family", "_sockaddr", "_socket", "_used")

    def __init__(self, family: int, sockaddr: Any) -> None:
        """To a resolved address: names are looked up once, before load, never in a request."""
        self._family = family
        self._sockaddr = sockaddr
        self._socket: Any = None
        self._used = 0.0

    def open(self) -> None:
        """Be connected. Raises `OSError`."""
        if self._socket is not None and time.monotonic() - self._used > IDLE_SECONDS and self._stale():
            self.close()
        if self._socket is None:
            made = green.socket(self._family, socket.SOCK_STREAM)
            try:
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                made.connect(self._sockaddr)
                self._socket = made
            finally:
                if self._socket is None:  # whatever ended it, a half-made connection is not kept
                    made.close()

    def exchange(self, request: bytes) -> Answer:
        """Send and receive. Raises `OSError` (also `ConnectionLostError`) and `BadAnswerError`; then call `close`."""
        sock, answer = self._socket, Answer()
        sent = sock.send(request)
        if sent < len(request):  # seldom; `sendall` alone would ask for the buffer's size each time
            sock.sendall(memoryview(request)[sent:])
        while not answer.complete:
            if data := sock.recv(RECEIVE_BYTES):
                answer.feed(data)
            else:
                answer.end()
        self._used = time.monotonic()
        if not answer.keep_alive:
            self.close()
        return answer

    def close(self) -> None:
        """Be unconnected."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _stale(self) -> bool:
        """Whether something waits to be read although nothing was asked: the server's end, or bytes not for us."""
        try:
            self._socket._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True
