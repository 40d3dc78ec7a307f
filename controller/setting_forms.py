"""How single settings are written; each form makes a value of a text or raises `ValueError(message, remedy)`."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Form = Callable[[str], Any]

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?")
_UNITS = {None: 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,253}")


def path(text: str) -> Path:
    """A path; `~` is the home folder."""
    if not text.strip() or "\0" in text:
        raise ValueError("is empty", "write a path or leave it out")
    return Path(text).expanduser()


def word(text: str) -> str:
    """Printable text without colons."""
    if not text or not text.isprintable() or ":" in text:
        raise ValueError(f"{text!r} is not a user's name", "write it without colons")
    return text


def url(text: str) -> str:
    """An http or https address without a query, a user or a trailing slash."""
    parts = urlsplit(text)
    try:
        fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fit = False
    if not fit or any(char.isspace() for char in text):
        raise ValueError(f"{text} is not an address", "write it like http://127.0.0.1:9090")
    if parts.username or parts.password:
        raise ValueError("holds a user or a password", "put the secret into a file: grafana_password_file")
    if parts.query or parts.fragment:
        raise ValueError(f"{text} has a query or a fragment", "end it after the path")
    return text.rstrip("/")


def address(text: str) -> tuple[str, int]:
    """Host and port to listen on."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.path or parts.username:
        raise ValueError(f"{text} is not a host and a port", "write it like 127.0.0.1:9690")
    return host, port


def targets(text: str) -> tuple[str, ...]:
    """Host names, addresses or networks, separated by commas; a name or an address may have a port.

    An http or https address stands for its host and port.
    """
    entries = tuple(_host_of(entry.strip()) for entry in text.split(",") if entry.strip())
    for entry in entries:
        if not _is_target(entry):
            remedy = "write a host name, an address or a network such as 10.0.0.0/8, with :port where only one is meant"
            raise ValueError(f"{entry} is not a host or a network", remedy)
    return entries


def size(text: str) -> int:
    """Bytes: `200MB`, `1.5GiB`, `500000000`."""
    found = _SIZE.fullmatch(text.strip().replace("_", ""))
    if found is None:
        raise ValueError(f"{text} is not a size", "write it like 200MB or 1GiB")
    return int(float(found[1]) * _UNITS[found[2]])


def factor(text: str) -> float:
    """A number from 1 to 10."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1.0 <= value <= 10.0:
        raise ValueError(f"{text} is not a number from 1 to 10", "write one, such as 1.5")
    return value


def _host_of(entry: str) -> str:
    scheme, separator, rest = entry.partition("://")
    if not separator or scheme not in _PORTS:
        return entry
    host = rest.partition("/")[0]
    return host if re.search(r":\d+$", host) else f"{host}:{_PORTS[scheme]}"


def _is_target(entry: str) -> bool:
    if "*" in entry or "//" in entry:
        return False
    try:
        ipaddress.ip_network(entry, strict=False)
    except ValueError:
        try:
            parts = urlsplit(f"//{entry}")
            return bool(parts.hostname and _HOST.fullmatch(parts.hostname) and not parts.path and parts.port != 0)
        except ValueError:
            return False
    return True
