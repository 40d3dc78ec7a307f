"""What the cases load: the stand-in with a known answer, or a small server that speaks TLS or over a socket file."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.compose.targets.tfserving_standin.running import a_stand_in
from tests.controller.generator.hostile import Hostile, says
from tests.controller.generator.target import ANSWERS
from tests.needs import need
from tests.validity.case import Case, Place


@dataclass(frozen=True, slots=True)
class Server:
    """`addresses` are what the capital words of a plan stand for; `play` starts a script of the stand-in."""

    place: Place
    addresses: Mapping[str, str]
    play: Callable[[Mapping[str, Any]], None]


@contextmanager
def a_server(case: Case, folder: Path) -> Iterator[Server]:
    """The one that the case asks for."""
    match case.serving:
        case "standin":
            with a_stand_in("--port", "free", *case.server) as stand_in:
                addresses = {"TARGET": f"http://{stand_in.host}:{stand_in.port}", "GRPC": stand_in.grpc}
                # by name, so that each connection has to look it up
                addresses["NAMED"] = f"http://localhost:{stand_in.port}"
                place = Place(folder, stand_in.host, stand_in.port)
                yield Server(place, addresses, lambda script: stand_in.script(dict(script)))
        case "http":
            with Hostile(says(ANSWERS["ok"])) as server:
                host, port = "127.0.0.1", server.port
                yield Server(Place(folder, host, port), {"TARGET": f"http://{host}:{port}"}, _nothing)
        case "unix":
            path = str(folder / "model.sock")
            with Hostile(says(ANSWERS["ok"]), socket.AF_UNIX, path):
                yield Server(Place(folder, "", 0), {"TARGET": f"unix://{path}"}, _nothing)
        case "tls":
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*_certificate(folder))
            with Hostile(says(ANSWERS["ok"]), tls=context) as server:
                host, port = "127.0.0.1", server.port
                addresses = {"TARGET": f"https://localhost:{port}", "FOLDER": str(folder)}
                yield Server(Place(folder, host, port), addresses, _nothing)


def _nothing(_script: Mapping[str, Any]) -> None:
    raise AssertionError("only the stand-in plays scripts")


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Of `localhost`, its own authority, for two days; and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    ask = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([need("openssl"), *ask, *name, *files], check=True, capture_output=True, timeout=60)
    return certificate, key
