"""The stand-in's own address, `/standin/`, which the real server does not have: counts, and a new script."""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable
from typing import Any

from .behaviour import Behaviour
from .http_answers import SERVER
from .ledger import Ledger
from .script import Script, ScriptError, parse_script_text


class Control:
    """Answers `GET /standin/counts`, `GET /standin/script` and, from this machine only, `POST /standin/script`."""

    PREFIX = "/standin/"

    def __init__(self, ledger: Ledger, behaviour: Behaviour, start: Callable[[Script], None]) -> None:
        """`start` runs a new script from now on."""
        self._ledger = ledger
        self._behaviour = behaviour
        self._start = start

    def answer(self, method: str, target: str, body: bytes, peer: str) -> tuple[int, bytes]:
        """HTTP status and JSON body. These requests are neither counted nor logged nor held by a script."""
        match method, target:
            case "GET", "/standin/counts":
                self._ledger.flush()
                return 200, _json({**self._facts(), **self._ledger.counts()})
            case "GET", "/standin/script":
                return 200, _json(
                    {**self._facts(), "script": json.loads(self._behaviour.script.model_dump_json(by_alias=True))}
                )
            case "POST", "/standin/script":
                return self._post(body, peer)
            case _:
                known = "GET /standin/counts, GET /standin/script, POST /standin/script"
                return 404, _json({"error": f"the stand-in has no {method} {target}; it has {known}"})

    def _post(self, body: bytes, peer: str) -> tuple[int, bytes]:
        if not _is_loopback(peer):
            return 403, _json({"error": "the stand-in takes a script from its own machine only"})
        try:
            script = parse_script_text(body.decode("utf-8"))
        except (ScriptError, UnicodeDecodeError) as error:
            return 400, _json({"error": f"the stand-in cannot use this script: {error}"})
        self._start(script)
        return 200, _json(self._facts())

    def _facts(self) -> dict[str, Any]:
        now = time.monotonic()
        return {
            "server": SERVER,
            "now": round(self._ledger.epoch(now), 6),
            "script_started": round(self._ledger.epoch(self._behaviour.started), 6),
        }


def _is_loopback(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()
