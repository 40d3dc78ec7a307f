"""A server on loopback that does one of the things that servers should not do, on every connection the same."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PATIENCE = 3.0
"""No behaviour lasts longer, seconds."""


def _drip(connection: socket.socket, data: bytes, pause: float) -> None:
    until = time.monotonic() + PATIENCE
    for byte in data:
        if time.monotonic() > until:
            return
        connection.sendall(bytes([byte]))
        time.sleep(pause)


def slow_headers(connection: socket.socket) -> None:
    """One byte every 20 ms, without an end."""
    _drip(connection, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"z" * 10_000, 0.02)


def endless_headers(connection: socket.socket) -> None:
    """Headers as fast as they go."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        connection.sendall(b"X-More: " + b"z" * 1000 + b"\r\n")


def infinite_body(connection: socket.socket) -> None:
    """A body without length and end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        connection.sendall(b"z" * 65536)


def infinite_drip(connection: socket.socket) -> None:
    """A chunked body that never ends, slowly: always something to read, never an answer."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    _drip(connection, b"1\r\nz\r\n" * 1000, 0.01)


def reset_in_mid_answer(connection: socket.socket) -> None:
    """RST after half of the body."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"z" * 50)
    time.sleep(0.02)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_at_once(connection: socket.socket) -> None:
    """RST instead of an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def says(data: bytes, *, stay: bool = True) -> Callable[[socket.socket], None]:
    """Always this, then wait for the next request or close."""

    def act(connection: socket.socket) -> None:
        connection.sendall(data)
        if not stay:
            connection.shutdown(socket.SHUT_RDWR)

    return act


def silent(connection: socket.socket) -> None:
    """Never an answer, never an end."""
    connection.settimeout(PATIENCE)
    with contextlib.suppress(OSError):
        connection.recv(1)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"

CASES: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "slow headers": (slow_headers, "timeout"),
    "endless headers": (endless_headers, "invalid_response"),
    "infinite body": (infinite_body, "invalid_response"),
    "infinite drip": (infinite_drip, "timeout"),
    "reset in mid-answer": (reset_in_mid_answer, "connection_error"),
    "reset at once": (reset_at_once, "connection_error"),
    "silence": (silent, "timeout"),
    "length too large, then silence": (says(HEAD % 10 + b"ok"), "timeout"),
    "length too large, then closed": (says(HEAD % 10 + b"ok", stay=False), "connection_error"),
    "length too small": (says(HEAD % 1 + b"ok"), "ok"),
    "length no number": (says(b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok"), "invalid_response"),
    "two lengths": (says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"), "invalid_response"),
    "length and chunks": (
        says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        "invalid_response",
    ),
    "chunk no number": (says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n"), "invalid_response"),
    "chunks cut": (
        says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", stay=False),
        "connection_error",
    ),
    "100-continue first": (says(b"HTTP/1.1 100 Continue\r\n\r\n" + OK), "ok"),
    "many interim answers": (says(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 20 + OK), "ok"),
    "only interim answers": (says(b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout"),
    "HTTP/1.0": (says(b"HTTP/1.0 200 OK\r\n\r\nok", stay=False), "ok"),
    "HTTP/1.0 kept": (says(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"), "ok"),
    "Connection: close": (says(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), stay=False), "ok"),
    "close said, not done": (says(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")), "ok"),
    "garbage after the answer": (says(OK + b"garbage"), "ok"),
    "two answers": (says(OK + OK), "ok"),
    "not HTTP": (says(b"SSH-2.0-OpenSSH\r\n", stay=False), "invalid_response"),
    "HTTP/2": (says(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"), "invalid_response"),
    "no status": (says(b"HTTP/1.1 OK\r\n\r\n"), "invalid_response"),
    "switching protocols": (
        says(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        "invalid_response",
    ),
    "no content": (says(b"HTTP/1.1 204 No Content\r\n\r\n"), "http_error"),
    "too large": (says(HEAD % 2_000_000 + b"z" * 2_000_000), "invalid_response"),
    "closed at once": (says(b"", stay=False), "connection_error"),
}
"""What the server does, and in which class the request has to end. Bodies may have a million bytes."""


@dataclass
class Hostile:
    """Reads a request and then behaves; counts the requests. It also listens on a Unix socket, or under TLS."""

    behave: Callable[[socket.socket], None]
    family: int = socket.AF_INET
    address: tuple[str, int] | str = ("127.0.0.1", 0)
    tls: ssl.SSLContext | None = None
    requests: int = 0
    connections: int = 0
    heads: list[bytes] = field(default_factory=list)

    def __enter__(self) -> Hostile:
        self._listener = socket.socket(self.family, socket.SOCK_STREAM)
        self._listener.bind(self.address)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if isinstance(self.address, str):
            Path(self.address).unlink()

    @property
    def sockaddr(self) -> tuple[str, int] | str:
        """Where it listens."""
        found: tuple[str, int] | str = self._listener.getsockname()
        return found

    @property
    def port(self) -> int:
        """Its TCP port."""
        return int(self.sockaddr[1])

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection:
                while self._read(connection):
                    self.requests += 1
                    self.behave(connection)
                    if self.behave in (reset_in_mid_answer, reset_at_once):
                        return

    def _read(self, connection: socket.socket) -> bool:
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return False
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        self.heads.append(head)
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        while len(body) < length:
            body += connection.recv(65536)
        return True
