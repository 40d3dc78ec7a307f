"""The web configuration file of the Prometheus exporter toolkit: TLS, users with bcrypt hashes, headers, a rate limit.

Read strictly: what is misspelt or not supported is refused, because a typing error here would open a door.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bcrypt
import yaml

from exporters.ciphers import ALWAYS, CIPHERS, CURVES
from exporters.rate_limit import RateLimit
from exporters.tls_config import CLIENT_AUTH, VERSIONS, Pem, TlsConfig

_PEMS = ("cert", "key", "client_ca")
_TLS_KEYS = {
    *_PEMS,
    *(f"{name}_file" for name in _PEMS),
    *("client_auth_type", "client_allowed_sans", "min_version", "max_version"),
    *("cipher_suites", "prefer_server_cipher_suites", "curve_preferences"),
}
_HTTP_KEYS, _HTTP_IGNORED = {"headers"}, {"http2"}
_HEADERS = {
    "Content-Security-Policy",
    "X-Frame-Options",
    "X-Content-Type-Options",
    "X-XSS-Protection",
    "Strict-Transport-Security",
}


class WebConfigError(ValueError):
    """The file cannot be used; the message says what stands wrong in it."""


@dataclass(frozen=True, slots=True)
class WebConfig:
    """What the file asks for; users are names to bcrypt hashes."""

    tls: TlsConfig | None = None
    limit: RateLimit | None = None
    users: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def load(file: Path) -> WebConfig:
    """Read and check the file; raises WebConfigError, or OSError when it cannot be read."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WebConfigError(f"{file} is not YAML: {error}") from error
    parts = _mapping(content, str(file))
    _known(parts, {"tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"}, str(file))
    http = _mapping(parts.get("http_server_config"), "http_server_config")
    _known(http, _HTTP_KEYS | _HTTP_IGNORED, "http_server_config")
    headers = _mapping(http.get("headers"), "http_server_config.headers")
    _known(headers, _HEADERS, "http_server_config.headers")
    tls = _mapping(parts.get("tls_server_config"), "tls_server_config")
    return WebConfig(
        tls=_tls(tls, file.parent) if tls else None,
        limit=_limit(_mapping(parts.get("rate_limit"), "rate_limit")),
        users={
            str(user): _hash(user, value) for user, value in _mapping(parts.get("basic_auth_users"), "users").items()
        },
        headers={name: _header(name, value) for name, value in headers.items() if value},
    )


def _tls(parts: dict[str, Any], folder: Path) -> TlsConfig:
    _known(parts, _TLS_KEYS, "tls_server_config")
    cert, key, ca = (_pem(name, parts, folder) for name in _PEMS)
    missing = [name for name, pem in (("cert", cert), ("key", key)) if pem is None]
    if cert is None or key is None:
        raise WebConfigError(
            f"tls_server_config has no {' and no '.join(f'{name}_file or {name}' for name in missing)}"
        )
    auth = str(parts.get("client_auth_type") or "NoClientCert")
    sans = frozenset(_words(parts, "client_allowed_sans"))
    _check_clients(auth, ca, named=parts.get("client_allowed_sans") is not None)
    lowest, highest = (str(parts.get(key) or default) for key, default in _VERSION_DEFAULTS.items())
    for version in (lowest, highest):
        if version not in VERSIONS:
            raise WebConfigError(f"TLS version {version!r} is none of {', '.join(VERSIONS)}")
    if VERSIONS[lowest] > VERSIONS[highest]:
        raise WebConfigError(f"min_version {lowest} is above max_version {highest}")
    prefers = parts.get("prefer_server_cipher_suites")
    ciphers, curves = _words(parts, "cipher_suites"), _words(parts, "curve_preferences")
    _check_ciphers(ciphers, curves, highest)
    curve = curves[0] if curves else ""
    return TlsConfig(cert, key, auth, ca, sans, lowest, highest, ciphers, prefers is not False, curve)


def _pem(name: str, parts: dict[str, Any], folder: Path) -> Pem | None:
    """A file's path, relative to the configuration's folder, or what stands in its place in the configuration."""
    file, content = parts.get(f"{name}_file"), parts.get(name)
    if file and content:
        raise WebConfigError(f"tls_server_config has both {name} and {name}_file")
    return folder / str(file) if file else str(content) if content else None


def _check_clients(auth: str, ca: Pem | None, *, named: bool) -> None:
    if auth not in CLIENT_AUTH:
        raise WebConfigError(f"client_auth_type {auth!r} is none of {', '.join(CLIENT_AUTH)}")
    if auth == "NoClientCert" and ca is not None:
        raise WebConfigError("client_ca_file is given, but client_auth_type asks for no certificate")
    if auth != "NoClientCert" and ca is None:
        raise WebConfigError(
            f"client_auth_type {auth} needs client_ca_file: a certificate is always verified here, never only asked for"
        )
    if named and not auth.startswith("Require"):
        raise WebConfigError(f"client_allowed_sans needs a client_auth_type that requires a certificate, not {auth}")


def _check_ciphers(ciphers: tuple[str, ...], curves: tuple[str, ...], highest: str) -> None:
    unknown = sorted({*ciphers} - {*CIPHERS, *ALWAYS})
    if unknown:
        raise WebConfigError(
            f"cipher_suites has {', '.join(unknown)}; there are: {', '.join([*CIPHERS, *sorted(ALWAYS)])}"
        )
    if ciphers and highest == "TLS12" and not {*ciphers} - ALWAYS:
        raise WebConfigError("cipher_suites has suites of TLS 1.3 only, and max_version is TLS12: nobody could connect")
    strange = sorted({*curves} - {*CURVES})
    if strange:
        raise WebConfigError(f"curve_preferences has {', '.join(strange)}; there are: {', '.join(CURVES)}")
    if len(curves) > 1:
        raise WebConfigError(
            "curve_preferences has several curves, and Python's TLS can be held to one only: name one, or leave it out"
        )


def _words(parts: dict[str, Any], key: str) -> tuple[str, ...]:
    found = parts.get(key)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise WebConfigError(f"{key} is not a list of words")
    return tuple(found)


def _limit(parts: dict[str, Any]) -> RateLimit | None:
    """The token bucket; None where there is none, or its interval is 0."""
    _known(parts, {"interval", "burst"}, "rate_limit")
    burst = parts.get("burst", 0)
    if not isinstance(burst, int) or isinstance(burst, bool) or burst < 0:
        raise WebConfigError(f"rate_limit.burst {burst!r} is no whole number")
    interval = _seconds(parts.get("interval", 0))
    if interval and not burst:
        raise WebConfigError("rate_limit has an interval and no burst: every request would be refused")
    return RateLimit(interval, burst) if interval else None


def _seconds(value: object) -> float:
    """A duration as Go writes it: `1s`, `1m30s`, `250ms`; a bare number only when it is 0."""
    text = str(value)
    if text == "0":
        return 0.0
    if not _DURATION.fullmatch(text):
        raise WebConfigError(f"rate_limit.interval {text!r} is no duration, such as 100ms or 1s")
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION_PART.findall(text))


_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_DURATION = re.compile(rf"(?:{_DURATION_PART.pattern})+")
_VERSION_DEFAULTS = {"min_version": "TLS12", "max_version": "TLS13"}


def _hash(user: object, value: object) -> bytes:
    """A bcrypt hash that can be used; raises WebConfigError without showing it."""
    found = str(value).encode()
    try:
        bcrypt.checkpw(b"", found) if not _costly(found) else None
    except ValueError as error:
        raise WebConfigError(f"the password of user {user!r} is no bcrypt hash, as `htpasswd -nBC 10` makes") from error
    return found


def _costly(found: bytes) -> bool:
    """Whether trying the hash would take seconds; its form is checked instead."""
    parts = found.split(b"$")
    if len(parts) != 4 or parts[1] not in (b"2a", b"2b", b"2y") or len(parts[3]) != 53 or not parts[2].isdigit():
        raise ValueError("form")
    return int(parts[2]) > 12


def _header(name: str, value: object) -> str:
    text = str(value)
    if any(ord(character) < 32 for character in text):
        raise WebConfigError(f"the header {name} has a control character in it")
    return text


def _mapping(value: object, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise WebConfigError(f"{where} is not a list of keys and values")
    return {str(key): inner for key, inner in value.items()}


def _known(parts: dict[str, Any], keys: set[str], where: str) -> None:
    unknown = sorted(parts.keys() - keys)
    if unknown:
        raise WebConfigError(
            f"{where} has {', '.join(unknown)}, which is not supported; there are: {', '.join(sorted(keys))}"
        )
