"""The target of a plan: its keys, what must fit together, and the value that it becomes."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from controller.plans.numbers import Whole
from controller.plans.places import SECURE
from controller.plans.plan import Target
from controller.plans.readers import Choice, Text
from controller.plans.tables import ByKind, Fields, Key, Record
from controller.plans.tls import TLS


def _rest(text: str) -> str:
    if not text.startswith("unix:"):
        return _url(text)
    path = text.removeprefix("unix://")
    if not path.startswith("/") or any(character.isspace() for character in path):
        raise ValueError(f"{text} is not the address of a socket", "write it like unix:///run/model.sock")
    return text


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fit = False
    if not fit or any(character.isspace() for character in text):
        raise ValueError(f"{text} is not an address", "write it like http://127.0.0.1:8501")
    if parts.username or parts.password:
        raise ValueError("holds a user or a password, and a plan is no place for one", "use a header with ${env:NAME}")
    if parts.query or parts.fragment:
        raise ValueError(f"{text} has a query or a fragment", "end it after the path")
    return text.rstrip("/")


def _host_and_port(text: str) -> str:
    try:
        parts = urlsplit(f"//{text.removeprefix(SECURE)}")
        fit = bool(parts.hostname and parts.port and not parts.path and not parts.username)
    except ValueError:
        fit = False
    if not fit:
        raise ValueError(f"{text} is not a host and a port", "write it like 127.0.0.1:8500")
    return text


URL = Text("an address such as http://127.0.0.1:8501", longest=500, parse=_url)
REST = Text("an address such as http://127.0.0.1:8501", longest=500, parse=_rest)
PATH = Text("a path that starts with /", longest=500, pattern=r"/[!-~]*")
_METRICS = Key(URL, "The target's own Prometheus page.")
_TLS = Key(TLS, "How https and grpcs are spoken.")


_TFSERVING_ONLY = ("has a meaning for kind tfserving only", "remove it")


def _check_tls(fields: Fields) -> None:
    rest, grpc = fields.get("rest", ""), fields.get("grpc", "")
    wrong = any(name in fields.lines and not fields.get(name) for name in ("rest", "grpc"))
    if "tls" not in fields.lines or wrong:
        return
    secure = grpc.startswith(SECURE)
    if rest and not rest.startswith("https:") and not secure:
        fields.refuse("tls", f"has a meaning for https only, and rest is {rest}", "write https, or remove tls")
    elif not rest and grpc and not secure:
        fields.refuse("tls", f"has a meaning for grpcs only, and grpc is {grpc}", f"write {SECURE}{grpc}")
    tls = fields.get("tls")
    if secure and isinstance(tls, Fields) and tls.get("verify") is False:
        tls.refuse("verify", "false is not possible over gRPC", "name the server's own certificate as ca_file")


def _built(kind: Literal["tfserving", "http"], fields: Fields) -> Target:
    values = {name: fields.get(name) for name in fields.values if name != "kind"}
    return Target(kind, **values | ({"tls": values["tls"].built} if "tls" in values else {}))


def _check_served(fields: Fields) -> None:
    _check_tls(fields)
    if "rest" not in fields.lines and "grpc" not in fields.lines:
        fields.refuse("rest", "is missing, and so is grpc", "add one of them (Address of the REST or gRPC interface)")
    if "version" in fields.lines and "label" in fields.lines:
        fields.refuse("label", "stands beside version", "keep one of the two")


TARGET = ByKind(
    {
        "tfserving": Record(
            {
                "kind": Key(Choice(("tfserving",)), "TensorFlow Serving or its stand-in.", required=True),
                "rest": Key(REST, "Address of the REST interface; also unix:///path of a socket."),
                "grpc": Key(
                    Text("a host and a port", parse=_host_and_port),
                    "Host and port of the gRPC interface; grpcs://host:port over TLS.",
                ),
                "model": Key(
                    Text("a model's name", pattern=r"[A-Za-z0-9_.-]+"), "Name of the served model.", required=True
                ),
                "version": Key(Whole(0, 2**62), "Version of the model; without it the server chooses."),
                "label": Key(Text("a version label", pattern=r"[A-Za-z0-9_.-]+"), "Label of the model's version."),
                "metrics": _METRICS,
                "tls": _TLS,
            },
            lambda f: _built("tfserving", f),
            _check_served,
            {"health": ("has a meaning for kind http only", "remove it: the status of the model is asked for instead")},
        ),
        "http": Record(
            {
                "kind": Key(Choice(("http",)), "Any model service that answers POST over HTTP.", required=True),
                "rest": Key(REST, "Address of the service; also unix:///path of a socket.", required=True),
                "health": Key(PATH, "A path that answers 200 when the service is ready."),
                "metrics": _METRICS,
                "tls": _TLS,
            },
            check=_check_tls,
            refused=dict.fromkeys(("model", "version", "label", "grpc"), _TFSERVING_ONLY),
            build=lambda f: _built("http", f),
        ),
    }
)
"""The system under test."""
