"""Answers scrapes over HTTP from memory: `/metrics`, `/-/healthy` and a landing page; with TLS and users if asked."""

from __future__ import annotations

import html
import logging
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from exporters import page
from exporters.sampler import Sampler
from exporters.written import Written

if TYPE_CHECKING:
    from exporters.access import Access

logger = logging.getLogger(__name__)

_TEXT = "text/plain; charset=utf-8"
_IDLE_SECONDS = 30
"""An idle or stuck client must not keep its thread for longer."""
_HANDSHAKE_SECONDS = 5


class MetricsServer(ThreadingHTTPServer):
    """An HTTP server over a set of samplers; `server_port` is the port that it really has."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, samplers: tuple[Sampler, ...], access: Access | None = None) -> None:
        """Bind at once; raises OSError when the address cannot be had. Without `access` everybody may read."""
        self._samplers, self._written = samplers, Written()
        self.access = access
        self._lock = threading.Lock()
        self._scrapes = 0
        self._last_seconds: float | None = None
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Speak TLS in the client's own thread, so that a slow handshake holds nobody else."""
        config, context = (None, None) if self.access is None else self.access.current()
        if config is None or config.tls is None or context is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(_HANDSHAKE_SECONDS)
        with context.wrap_socket(request, server_side=True) as secured:
            if config.tls.welcomes(secured):
                super().finish_request(secured, client_address)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """A client that went away in mid-answer or speaks no TLS is no news; anything else is logged with its cause."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError | ssl.SSLError):
            logger.exception("could not answer a request client=%s", client_address)

    def metrics(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type; also counts and times the scrape."""
        started = time.perf_counter()
        with self._lock:
            own = page.read_self(self._scrapes, self._last_seconds)
        now = time.monotonic()
        body = self._written.page([s.state(now) for s in self._samplers], own, accept)
        with self._lock:
            self._scrapes += 1
            self._last_seconds = time.perf_counter() - started
        return body

    def landing(self) -> bytes:
        """A page for people who open the port in a browser: what is sampled, how old it is, and whether it works."""
        now = time.monotonic()
        rows = "".join(_row(sampler, now) for sampler in self._samplers)
        return (
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>Stagelight exporter</title>"
            "<style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em 1em;text-align:left}</style>"
            f"<h1>Stagelight exporter</h1><p>Version {html.escape(page.version())}</p>"
            f"<table><tr><th>Collector</th><th>Source</th><th>State</th><th>Age of the sample</th></tr>{rows}</table>"
            "<p><a href='/metrics'>Metrics</a> · <a href='/-/healthy'>Health</a></p></html>"
        ).encode()


def _row(sampler: Sampler, now: float) -> str:
    state = sampler.state(now)
    age = "none yet" if state.age_seconds is None else f"{state.age_seconds:.1f} s"
    results = () if state.sample is None else state.sample.results
    shown = [(result.source, result.failure or "ok") for result in results] or [
        ("", "hangs" if state.hung else "no data")
    ]
    return "".join(
        f"<tr><td>{html.escape(state.collector)}</td><td>{html.escape(source)}</td><td>{html.escape(said)}</td>"
        f"<td>{age}</td></tr>"
        for source, said in shown
    )


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    server_version, sys_version = "stagelight-exporter", ""
    wbufsize = -1  # one packet an answer, not one for the head and one for the body
    disable_nagle_algorithm = True  # its end must not wait until the scraper has acknowledged its beginning

    def do_GET(self) -> None:
        if not self._admitted():
            self._answer(429, b"too many requests\n", _TEXT)
            return
        if not self._allowed():
            self._answer(401, b"unauthorized\n", _TEXT, {"WWW-Authenticate": 'Basic realm="stagelight-exporter"'})
            return
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

    def _admitted(self) -> bool:
        access = self.server.access
        return access is None or access.admits(access.current()[0].limit, time.monotonic())

    def _allowed(self) -> bool:
        access = self.server.access
        users = {} if access is None else access.current()[0].users
        return access is None or not users or access.allows(users, self.headers.get("Authorization", ""))

    def _answer(self, status: int, body: bytes, content_type: str, more: dict[str, str] | None = None) -> None:
        asked = {} if self.server.access is None else self.server.access.current()[0].headers
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in {**asked, **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """No line per scrape."""
