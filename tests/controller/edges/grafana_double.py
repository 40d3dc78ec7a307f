"""A double of Grafana's annotation API on loopback: real semantics in memory, and failures by script.

Imitated: tags split at colons, two kept; swapped times; `timeEnd` defaulting to `time`; PATCH leaving empty fields
alone; tag queries that need every tag; the overlap filter; the limit on tags; ids from 1 in an empty database.
Strict: whatever the real server would misread silently goes into `complaints`."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

TOKEN = "glsa_right"  # noqa: S105

Moment = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Instead of doing what was asked: this status."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    text: str = '{"message": "scripted"}'


@dataclass(frozen=True, slots=True)
class Stall:
    """Do it before or after `seconds` without an answer; then answer, if anyone still listens."""

    moment: Moment
    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection without an answer, before or after doing it."""

    moment: Moment


@dataclass(frozen=True, slots=True)
class Odd:
    """Do it, and answer 200 with another body."""

    content: Any


Fault = Answer | Stall | Cut | Odd


@dataclass(slots=True)
class GrafanaDouble:
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    accepted: set[str] = field(default_factory=lambda: {f"Bearer {TOKEN}"})
    on_request: Callable[[str], None] = lambda _method: None
    seconds_for_milliseconds: bool = False  # a proxy or version that divides by 1000
    _script: list[tuple[str, Fault]] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None
    _port: int = 0
    _next_id: int = 1
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen; on the same port as before after `stop`."""
        double = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

            def _any(self) -> None:
                double._handle(self)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _any  # noqa: N815

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """A client that went away is part of the play."""

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def lose_database(self) -> None:
        with self._lock:
            self.rows, self._next_id = {}, 1

    def fail(self, method: str, *faults: Fault) -> None:
        """The next requests of this method meet these faults, one each; others are served."""
        with self._lock:
            self._script += [(method, fault) for fault in faults]

    def store(self, row: dict[str, Any]) -> int:
        """Put a row in as somebody else would."""
        with self._lock:
            return int(self._post(row)["id"])

    def _handle(self, request: BaseHTTPRequestHandler) -> None:
        content = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        with self._lock:
            self.requests.append((request.command, request.path))
            self.authorizations.append(request.headers.get("Authorization", ""))
            fault = next((entry for entry in self._script if entry[0] == request.command), None)
            if fault is not None:
                self._script.remove(fault)
        self.on_request(request.command)
        match fault[1] if fault else None:
            case Answer() as answer:
                return _send(request, answer.status, answer.text, dict(answer.headers))
            case Cut("before"):
                return _cut(request)
            case Cut("after"):
                self.serve(request, content)
                return _cut(request)
            case Stall("before", seconds):
                time.sleep(seconds)
                status, body = self.serve(request, content)
            case Stall("after", seconds):
                status, body = self.serve(request, content)
                time.sleep(seconds)
            case Odd(odd):
                status, body = self.serve(request, content)[0], odd
            case _:
                status, body = self.serve(request, content)
        return _send(request, status, json.dumps(body), {"Content-Type": "application/json"})

    def serve(self, request: BaseHTTPRequestHandler, content: bytes) -> tuple[int, Any]:
        if request.headers.get("Authorization") not in self.accepted:
            return 401, {"message": "Unauthorized"}
        url = urlsplit(request.path)
        name = url.path.removeprefix("/api/annotations").strip("/")
        try:
            sent = json.loads(content) if content else {}
        except ValueError:
            return 400, {"message": "bad request data"}
        with self._lock:
            match request.command, name:
                case "GET", "":
                    return 200, self._search(parse_qs(url.query))
                case "POST", "":
                    return self._create(sent)
                case ("PATCH" | "DELETE") as method, number if number.isdigit():
                    return self._one(method, int(number), sent)
        self.complaints.append(f"{request.command} {request.path} is not a call of this API")
        return 404, {"message": "Not found"}

    def _create(self, sent: dict[str, Any]) -> tuple[int, Any]:
        if not sent.get("text"):
            return 400, {"message": "text field should not be empty"}
        if 2 + sum(len(tag.encode()) + 2 for tag in sent.get("tags", [])) + len(sent.get("tags", [])) - 1 > 500:
            return 400, {
                "message": "tags length exceeds the maximum allowed",
                "messageId": "annotations.tag-limit-exceeded",
            }
        return 200, self._post(sent)

    def _one(self, method: str, number: int, sent: dict[str, Any]) -> tuple[int, Any]:
        if number == 0:
            self.complaints.append(f"{method} of annotation id 0")
        if number not in self.rows:
            return 404, {"message": "Could not find annotation to update"}
        if method == "DELETE":
            del self.rows[number]
            return 200, {"message": "Annotation deleted"}
        row = self.rows[number]
        for name in ("text", "time", "timeEnd", "data"):
            if sent.get(name):
                row[name] = sent[name]
        if sent.get("tags"):
            row["tags"] = self._tags(sent["tags"])
        self._straighten(row)
        return 200, {"message": "Annotation patched"}

    def _post(self, sent: dict[str, Any]) -> dict[str, Any]:
        now, given = int(time.time() * 1000), {name: value for name, value in sent.items() if value}
        row = {"time": now, "timeEnd": given.get("time", now), "tags": [], "created": now, **given}
        row["tags"] = self._tags(row["tags"])
        self._straighten(row)
        row["id"], self._next_id = self._next_id, self._next_id + 1
        self.rows[row["id"]] = row
        return {"message": "Annotation added", "id": row["id"]}

    def _straighten(self, row: dict[str, Any]) -> None:
        if self.seconds_for_milliseconds and row["time"] > 10**11:
            row["time"], row["timeEnd"] = row["time"] // 1000, row["timeEnd"] // 1000
        if row["timeEnd"] < row["time"]:
            self.complaints.append(f"timeEnd before time in {row['text']}: swapped")
            row["time"], row["timeEnd"] = row["timeEnd"], row["time"]
        if row["time"] < 10**11 and not self.seconds_for_milliseconds:
            self.complaints.append(f"time {row['time']} looks like seconds")

    def _tags(self, tags: list[str]) -> list[str]:
        kept = []
        for tag in tags:
            parts = tag.split(":")
            if len(parts) > 2 or len(tag) > 100:
                self.complaints.append(f"tag {tag!r} loses a part")
            kept.append(":".join(parts[:2]))
        if len(set(kept)) != len(kept):
            self.complaints.append(f"duplicate tags in {kept}")
        return list(dict.fromkeys(kept))

    def _search(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        start, end = (int(query.get(name, ["0"])[0]) for name in ("from", "to"))
        found = []
        for row in self.rows.values():
            keys = {tag.split(":")[0] for tag in row["tags"]}
            if not all(tag in row["tags"] or (":" not in tag and tag in keys) for tag in query.get("tags", [])):
                continue
            if start > 0 and end > 0 and not (row["time"] <= end and row["timeEnd"] >= start):
                continue
            found.append(dict(row))
        found.sort(key=lambda row: -row["timeEnd"])
        return found[: int(query.get("limit", ["100"])[0])]


def _send(request: BaseHTTPRequestHandler, status: int, text: str, headers: dict[str, str]) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(text.encode())))
    request.end_headers()
    request.wfile.write(text.encode())


def _cut(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True
    request.connection.close()
