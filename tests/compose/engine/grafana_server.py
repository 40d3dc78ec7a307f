"""A double of Grafana's server in a container: provisioning read strictly, accounts, tokens and annotations kept.

What Grafana would pass over in silence (an unset variable, an unknown key, a board without a uid) ends this program
with a sentence. Its database is one file in /var/lib/grafana; the admin password counts at the first start only, as
there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.compose.engine.grafana_provisioning import Provisioned, read_provisioning
from tests.compose.grafana_accounts import Accounts
from tests.controller.edges.grafana_double import GrafanaDouble

DATABASE = Path("/var/lib/grafana/double.json")
PORT = 3000


class Server:
    """State and answers; every change is written to the database before it is answered."""

    def __init__(self, provisioned: Provisioned, password: str) -> None:
        self._lock = threading.Lock()
        self.provisioned = provisioned
        known: dict[str, Any] = json.loads(DATABASE.read_text()) if DATABASE.exists() else {}
        self.accounts = Accounts(known.get("password", password))
        self.accounts.accounts = {int(key): value for key, value in known.get("accounts", {}).items()}
        self.accounts.tokens = {
            int(key): (value[0], value[1], value[2]) for key, value in known.get("tokens", {}).items()
        }
        self.annotations = GrafanaDouble(rows={int(key): value for key, value in known.get("rows", {}).items()})
        self.annotations._next_id = max(self.annotations.rows, default=0) + 1
        self._keep()

    def answer(self, request: BaseHTTPRequestHandler) -> tuple[int, Any]:
        """Status and body."""
        content = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        authorization = request.headers.get("Authorization", "")
        method, path = request.command, urlsplit(request.path).path
        with self._lock:
            match method, path:
                case "GET", "/api/health":
                    return 200, {"database": "ok"}
                case "GET", "/api/dashboards/home":
                    return 200, {"dashboard": self.provisioned.home}
                case "GET", "/api/search":
                    return 200, [{"uid": uid, "title": title} for uid, title in self.provisioned.boards.items()]
                case "GET", "/api/datasources/uid/prometheus/health":
                    return self._ask_prometheus()
                case "GET", "/api/complaints":  # of the double, not of Grafana
                    return 200, self.annotations.complaints
                case "GET", "/api/annotations" if not authorization:  # the anonymous viewer
                    return 200, list(self.annotations.rows.values())
                case _, _ if path.startswith("/api/annotations"):
                    return self._annotate(request, content)
            answer = self.accounts.answer(method, request.path, authorization, json.loads(content) if content else None)
            self._keep()
            return answer

    def _annotate(self, request: BaseHTTPRequestHandler, content: bytes) -> tuple[int, Any]:
        self.annotations.accepted = {f"Bearer {key}" for key in self._keys("Editor", "Admin")}
        if request.command == "GET":
            self.annotations.accepted |= {f"Bearer {key}" for key in self._keys("Viewer")}
        answer = self.annotations.serve(request, content)
        self._keep()
        return answer

    def _keys(self, *roles: str) -> list[str]:
        accounts = self.accounts.accounts
        return [key for account, _, key in self.accounts.tokens.values() if accounts[account]["role"] in roles]

    def _ask_prometheus(self) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"{self.provisioned.prometheus}/-/ready", timeout=4) as answer:  # noqa: S310
                return 200, {"status": "OK" if answer.status == 200 else "ERROR"}
        except OSError as error:
            return 400, {"status": "ERROR", "message": str(error)}

    def _keep(self) -> None:
        known = {
            "password": self.accounts.password,
            "accounts": self.accounts.accounts,
            "tokens": self.accounts.tokens,
            "rows": self.annotations.rows,
        }
        fresh = DATABASE.with_suffix(".new")
        fresh.write_text(json.dumps(known))
        fresh.replace(DATABASE)


def main() -> int:
    """Serve until SIGTERM; 1 with a sentence where Grafana would have been set up wrongly."""
    try:
        provisioned = read_provisioning(Path("/etc/grafana/provisioning"), os.environ)
        password = Path(os.environ["GF_SECURITY_ADMIN_PASSWORD__FILE"]).read_text().strip()
    except (OSError, KeyError, ValueError) as error:
        sys.stderr.write(f"this Grafana would not be what was meant: {error!r}\n")
        return 1
    state = Server(provisioned, password)

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            status, body = state.answer(self)
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _reply  # noqa: N815 -- the base class's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
            """One line for each request would bury the rest."""

    server = ThreadingHTTPServer(("0.0.0.0", PORT), Handler)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"ready on {PORT}: boards {', '.join(provisioned.boards)}")
    server.serve_forever(0.2)
    server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
