"""A loopback server with Grafana's service-account interface: strict about paths, bodies, roles and credentials."""

from __future__ import annotations

import base64
import json
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(slots=True)
class Accounts:
    """What the server knows; `refusals` answers with that status come first."""

    password: str
    refusals: list[int] = field(default_factory=list)
    accounts: dict[int, dict[str, Any]] = field(default_factory=dict)
    tokens: dict[int, tuple[int, str, str]] = field(default_factory=dict)  # id to account, name, key
    log: list[str] = field(default_factory=list)
    reads_annotations: bool = True

    def roles(self) -> list[str]:
        """Roles of all accounts."""
        return [str(each["role"]) for each in self.accounts.values()]

    def keys(self) -> list[str]:
        """Every valid token."""
        return [key for _, _, key in self.tokens.values()]

    def answer(self, method: str, target: str, authorization: str, body: Any) -> tuple[int, Any]:
        """Status and body of one request."""
        url = urlsplit(target)
        self.log.append(f"{method} {url.path}")
        if self.refusals:
            return self.refusals.pop(0), {"message": "not now"}
        if url.path == "/api/annotations":
            return self._annotations(method, authorization)
        if authorization != "Basic " + base64.b64encode(f"admin:{self.password}".encode()).decode():
            return 401, {"message": "Invalid username or password"}
        match method, re.sub(r"\d+", "N", url.path):
            case "GET", "/api/serviceaccounts/search":
                wanted = parse_qs(url.query)["query"][0]
                return 200, {"serviceAccounts": [each for each in self.accounts.values() if wanted in each["name"]]}
            case "POST", "/api/serviceaccounts":
                return self._create(body)
            case "PATCH", "/api/serviceaccounts/N":
                self.accounts[int(url.path.rpartition("/")[2])] |= body
                return 200, {"message": "Service account updated"}
            case _, path if path.startswith("/api/serviceaccounts/N/tokens"):
                return self._tokens(method, url.path, body)
        return 404, {"message": "Not found"}

    def _annotations(self, method: str, authorization: str) -> tuple[int, Any]:
        if method != "GET" or authorization.removeprefix("Bearer ") not in self.keys():
            return 401, {"message": "Invalid API key"}
        return (200, []) if self.reads_annotations else (403, {"message": "no"})

    def _create(self, body: Any) -> tuple[int, Any]:
        if set(body) != {"name", "role", "isDisabled"} or body["role"] not in {"Viewer", "Editor", "Admin"}:
            return 400, {"message": "Bad request data"}
        if any(each["name"] == body["name"] for each in self.accounts.values()):
            return 400, {"message": "Failed to create service account"}
        number = len(self.accounts) + 7
        self.accounts[number] = {"id": number, **body}
        return 201, self.accounts[number]

    def _tokens(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        account, _, token = path.removeprefix("/api/serviceaccounts/").partition("/tokens")
        mine = {number: each for number, each in self.tokens.items() if each[0] == int(account)}
        match method:
            case "GET":
                return 200, [{"id": number, "name": name} for number, (_, name, _) in mine.items()]
            case "DELETE" if int(token.strip("/")) in mine:
                del self.tokens[int(token.strip("/"))]
                return 200, {"message": "API key deleted"}
            case "POST":
                if any(name == body["name"] for _, name, _ in mine.values()):
                    return 409, {"message": "token exists"}
                number = max(self.tokens, default=0) + 1
                self.tokens[number] = (int(account), body["name"], f"glsa_{secrets.token_hex(16)}")
                return 200, {"id": number, "name": body["name"], "key": self.tokens[number][2]}
        return 404, {"message": "Failed to delete API key"}


@contextmanager
def serving(accounts: Accounts) -> Iterator[str]:
    """The server's base URL while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(content) if content else None
            status, said = accounts.answer(self.command, self.path, self.headers.get("Authorization", ""), body)
            text = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = _reply  # noqa: N815 -- the base class's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
