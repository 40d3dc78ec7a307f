"""A model server of our own for the tests: counts what it receives, and misbehaves as it is told, in turns."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

GOOD = b'{\n    "predictions": [[0.25, 0.75]]\n}'


def http(body: bytes, status: str = "200 OK", *more: str, length: int | None = None) -> bytes:
    """A whole answer; `length` lies about the body's."""
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *more, "", "")
    return "\r\n".join(lines).encode() + body


ANSWERS = {
    "ok": http(GOOD),
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD),
    "closing": http(GOOD, "200 OK", "Connection: close"),
    "until_closed": b"HTTP/1.0 200 OK\r\n\r\n" + GOOD,
    "interim": b"HTTP/1.1 102 Processing\r\n\r\n" + http(GOOD),
    "http_error": http(b'{"error": "overloaded"}', "503 Service Unavailable"),
    "redirect": http(b"", "302 Found", "Location: /elsewhere"),
    "no_field": http(b'{"results": []}'),
    "not_json": http(b'{"predictions": [0.1'),
    "garbage": b"I am not HTTP\r\n\r\n",
    "cut": http(GOOD, length=len(GOOD) + 10),
    "hang_up": b"",
    "silent": b"",
}
"""What is sent for each behaviour. After those in `LAST` the connection is closed; `silent` never answers."""

LAST = ("closing", "until_closed", "garbage", "cut", "hang_up")

OUTCOME = {
    **dict.fromkeys(("ok", "chunked", "closing", "until_closed", "interim"), "ok"),
    **dict.fromkeys(("http_error", "redirect"), "http_error"),
    **dict.fromkeys(("no_field", "not_json", "garbage"), "invalid_response"),
    **dict.fromkeys(("cut", "hang_up"), "connection_error"),
    "silent": "timeout",
}
"""In which class of the generator each behaviour has to end."""


@dataclass
class Target:
    """Listens on a free loopback port. `delay` seconds pass before each answer."""

    behaviours: Sequence[str] = ("ok",)
    delay: float = 0.0
    host: str = "127.0.0.1"
    seen: Counter[str] = field(default_factory=Counter)  # requests by behaviour
    bodies: Counter[bytes] = field(default_factory=Counter)
    last: float = 0.0  # epoch of the newest request
    heads: list[bytes] = field(default_factory=list)  # of the first requests

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._listener = socket.create_server((self.host, 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def count(self) -> int:
        return sum(self.seen.values())

    def stop(self) -> None:
        """Refuse connections from now on and end those there are."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._connections:
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)
        try:
            with connection:
                while (behaviour := self._receive(connection)) is not None:
                    if self.delay:
                        time.sleep(self.delay)
                    if behaviour == "silent":
                        connection.recv(1)  # until the client gives up
                        return
                    connection.sendall(ANSWERS[behaviour])
                    if behaviour in LAST:
                        return
        except OSError:
            return
        finally:
            with self._lock:
                self._connections.discard(connection)

    def _receive(self, connection: socket.socket) -> str | None:
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(65536)
        with self._lock:
            behaviour = self.behaviours[self.count % len(self.behaviours)]
            self.seen[behaviour] += 1
            self.bodies[body] += 1
            self.last = time.time()
            if len(self.heads) < 10:
                self.heads.append(head)
        return behaviour
