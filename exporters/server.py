"""Answers scrapes over HTTP from memory: `/metrics`, `/-/healthy` and a landing page."""

from __future__ import annotations

import html
import logging
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from exporters import page, text
from exporters.sampler import Sampler

logger = logging.getLogger(__name__)

_TEXT = "text/plain; charset=utf-8"


class MetricsServer(ThreadingHTTPServer):
    """An HTTP server over a set of samplers; `server_port` is the port that it really has."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, samplers: tuple[Sampler, ...]) -> None:
        """Bind at once; raises OSError when the address cannot be had."""
        self._samplers = samplers
        self._lock = threading.Lock()
        self._scrapes = 0
        self._last_seconds: float | None = None
        super().__init__((host, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """A client that went away in mid-answer is no news; anything else is logged with its cause."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            logger.exception("could not answer a request client=%s", client_address)

    def metrics(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type; also counts and times the scrape."""
        started = time.perf_counter()
        with self._lock:
            own = page.read_self(self._scrapes, self._last_seconds)
        now = time.monotonic()
        body = text.render(page.families([s.state(now) for s in self._samplers], own), accept)
        with self._lock:
            self._scrapes += 1
            self._last_seconds = time.perf_counter() - started
        return body

    def landing(self) -> bytes:
        """A page for people who open the port in a browser."""
        rows = "".join(f"<li>{html.escape(s.collector.name)}</li>" for s in self._samplers)
        return (
            "<!doctype html><html lang='en'><title>Stagelight exporter</title><h1>Stagelight exporter</h1>"
            f"<p>Collectors:</p><ul>{rows}</ul>"
            "<p><a href='/metrics'>Metrics</a> · <a href='/-/healthy'>Health</a></p></html>"
        ).encode()


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds: an idle or stuck client must not keep its thread

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/metrics":
                body, content_type = self.server.metrics(self.headers.get("Accept", ""))
                self._answer(200, body, content_type)
            case "/-/healthy":
                self._answer(200, b"healthy\n", _TEXT)
            case "/":
                self._answer(200, self.server.landing(), "text/html; charset=utf-8")
            case _:
                self._answer(404, b"not found: try /metrics\n", _TEXT)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self, status: int, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """No line per scrape."""
