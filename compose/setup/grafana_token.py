"""Gives the controller a Grafana service-account token in a file, and asks for a new one only if that is refused.

    python grafana_token.py --grafana http://grafana:3000 --password FILE --token FILE

The account is an Editor, the least role that may write annotations. Neither password nor token is ever printed.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

ACCOUNT = "stagelight"
ROLE = "Editor"
ADMIN = "admin"
WAIT_SECONDS = 60.0
PAUSE_SECONDS = 1.0
TIMEOUT_SECONDS = 5.0
OWNER_ONLY = 0o400
BUSY = frozenset({429, 502, 503, 504})


class TokenError(Exception):
    """No token could be had; the message says why and what to do."""


class NotReady(Exception):  # noqa: N818 -- a state, not a fault: it passes
    """Grafana does not answer yet."""


@dataclass(frozen=True, slots=True)
class Grafana:
    """The HTTP interface of one Grafana."""

    url: str

    def call(self, method: str, path: str, authorization: str, body: Any = None) -> tuple[int, Any]:
        """Status and decoded answer. Raises `NotReady` when there is no answer, or one that says: later."""
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        link = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        try:
            text = None if body is None else json.dumps(body)
            headers = {"Authorization": authorization, "Content-Type": "application/json"}
            link.request(method, parts.path.rstrip("/") + path, text, headers)
            answer = link.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise NotReady(f"{type(error).__name__}: {error}") from error
        finally:
            link.close()
        if answer.status in BUSY:
            raise NotReady(f"status {answer.status}")
        try:
            return answer.status, json.loads(content or b"null")
        except ValueError:
            return answer.status, None


def is_accepted(grafana: Grafana, token: str) -> bool:
    """Whether Grafana knows the token and lets it read annotations."""
    status, _ = grafana.call("GET", "/api/annotations?limit=1", f"Bearer {token}")
    return status == 200


def new_token(grafana: Grafana, password: str) -> str:
    """A token of the service account, which is made if it is not there. Older tokens of it end. Raises `TokenError`."""
    admin = "Basic " + base64.b64encode(f"{ADMIN}:{password}".encode()).decode()
    account = _account(grafana, admin)
    path = f"/api/serviceaccounts/{account}/tokens"
    for old in _expect(grafana.call("GET", path, admin), 200, "list the tokens"):
        _expect(grafana.call("DELETE", f"{path}/{int(old['id'])}", admin), 200, "end an old token")
    made = grafana.call("POST", path, admin, {"name": f"compose-{secrets.token_hex(4)}", "secondsToLive": 0})
    token = _expect(made, 200, "make a token").get("key")
    if not isinstance(token, str) or not token:
        raise TokenError("could not make a token: Grafana's answer holds no key; is this a Grafana?")
    return token


def _account(grafana: Grafana, admin: str) -> int:
    found = _expect(grafana.call("GET", f"/api/serviceaccounts/search?query={quote(ACCOUNT)}", admin), 200, "log in")
    for account in found["serviceAccounts"]:
        if account["name"] == ACCOUNT:
            number = int(account["id"])
            change = {"role": ROLE, "isDisabled": False}
            _expect(grafana.call("PATCH", f"/api/serviceaccounts/{number}", admin, change), 200, "set the role")
            return number
    body = {"name": ACCOUNT, "role": ROLE, "isDisabled": False}
    return int(_expect(grafana.call("POST", "/api/serviceaccounts", admin, body), 201, "make the account")["id"])


def _expect(answer: tuple[int, Any], wanted: int, what: str) -> Any:
    status, content = answer
    if status == wanted:
        return content
    if status == 401:
        raise TokenError(
            f"could not {what}: Grafana refuses the admin password. Its database is older than the password: remove "
            "the volumes grafana and grafana-admin together (docker compose down --volumes removes all)"
        )
    said = content.get("message") if isinstance(content, dict) else None
    raise TokenError(f"could not {what}: Grafana answers {status} ({said or 'no reason given'})")


def ensure(grafana: Grafana, password: Path, token: Path) -> bool:
    """Have a token that works in the file; says whether it is new. Raises `TokenError`, `NotReady`, `OSError`."""
    present = token.read_text("utf-8").strip() if token.exists() else ""
    if present and is_accepted(grafana, present):
        return False
    made = new_token(grafana, password.read_text("utf-8").strip())
    if not is_accepted(grafana, made):
        raise TokenError(f"could not use the new token: Grafana does not let the role {ROLE} read annotations")
    _write(token, made)
    return True


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ensure the token, with patience while Grafana starts; exit code 0, or 1 with one sentence."""
    parser = argparse.ArgumentParser(description="Put a Grafana service-account token into a file.")
    parser.add_argument("--grafana", required=True, help="base URL")
    parser.add_argument("--password", type=Path, required=True, help="file of the admin password")
    parser.add_argument("--token", type=Path, required=True, help="file that gets the token")
    parser.add_argument("--wait", type=float, default=WAIT_SECONDS, help="seconds to wait for Grafana (60)")
    given = parser.parse_args(arguments)
    deadline = time.monotonic() + given.wait
    while True:
        try:
            fresh = ensure(Grafana(given.grafana), given.password, given.token)
        except NotReady as error:
            if time.monotonic() < deadline:
                time.sleep(PAUSE_SECONDS)
                continue
            sys.stderr.write(f"could not reach Grafana at {given.grafana} for {given.wait:g} s: {error}\n")
            return 1
        except (TokenError, OSError) as error:
            sys.stderr.write(f"{error}\n")
            return 1
        sys.stdout.write(f"service-account token {'made' if fresh else 'kept'}\n")
        return 0


if __name__ == "__main__":
    sys.exit(main())
