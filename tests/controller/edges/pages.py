"""A loopback server that answers each path with what a test put there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Page:
    content: str = ""
    status: int = 200
    kind: str = "application/json"
    delay: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()


Script = Callable[[str, str, bytes], Page]
"""Method, path with query, body → what to answer."""


@dataclass
class Pages:
    url: str
    seen: list[tuple[str, str, bytes]] = field(default_factory=list)


@contextmanager
def serving(script: Script) -> Iterator[Pages]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            pages.seen.append((self.command, self.path, body))
            page = script(self.command, self.path, body)
            time.sleep(page.delay)
            self.send_response(page.status)
            self.send_header("Content-Type", page.kind)
            self.send_header("Content-Length", str(len(page.content.encode())))
            for name, value in page.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(page.content.encode())

        do_GET = do_POST = _any  # noqa: N815

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up is part of the play."""

    server = Server(("127.0.0.1", 0), Handler)
    pages = Pages(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield pages
    finally:
        server.shutdown()
        server.server_close()
