"""The web configuration file of the Prometheus exporter toolkit: TLS, users with bcrypt hashes, response headers.

Read strictly: what is misspelt or not supported is refused, because a typing error here would open a door.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bcrypt
import yaml

CLIENT_AUTH = {
    "NoClientCert": ssl.CERT_NONE,
    "RequestClientCert": ssl.CERT_OPTIONAL,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAnyClientCert": ssl.CERT_REQUIRED,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
"""Python's TLS always verifies a certificate that it got, which is stricter than two of these names say."""

VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}

_TLS_KEYS = {"cert_file", "key_file", "client_auth_type", "client_ca_file", "min_version", "max_version"}
_TLS_IGNORED = {"prefer_server_cipher_suites", "curve_preferences"}
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
class TlsConfig:
    """Files and rules of TLS; paths are absolute or relative to the configuration's folder."""

    cert_file: Path
    key_file: Path
    client_auth: str = "NoClientCert"
    client_ca_file: Path | None = None
    min_version: str = "TLS12"
    max_version: str = "TLS13"

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that it is made of."""
        return tuple(file for file in (self.cert_file, self.key_file, self.client_ca_file) if file is not None)

    def context(self) -> ssl.SSLContext:
        """TLS for a server; raises OSError (also `ssl.SSLError`) when a file cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.maximum_version = VERSIONS[self.min_version], VERSIONS[self.max_version]
        context.load_cert_chain(self.cert_file, self.key_file)
        context.verify_mode = CLIENT_AUTH[self.client_auth]
        if self.client_ca_file is not None:
            context.load_verify_locations(self.client_ca_file)
        return context


@dataclass(frozen=True, slots=True)
class WebConfig:
    """What the file asks for; users are names to bcrypt hashes."""

    tls: TlsConfig | None = None
    users: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def load(file: Path) -> WebConfig:
    """Read and check the file; raises WebConfigError, or OSError when it cannot be read."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WebConfigError(f"{file} is not YAML: {error}") from error
    parts = _mapping(content, str(file))
    _known(parts, {"tls_server_config", "http_server_config", "basic_auth_users"}, str(file))
    http = _mapping(parts.get("http_server_config"), "http_server_config")
    _known(http, _HTTP_KEYS | _HTTP_IGNORED, "http_server_config")
    headers = _mapping(http.get("headers"), "http_server_config.headers")
    _known(headers, _HEADERS, "http_server_config.headers")
    tls = parts.get("tls_server_config")
    return WebConfig(
        tls=None if tls is None else _tls(_mapping(tls, "tls_server_config"), file.parent),
        users={
            str(user): _hash(user, value) for user, value in _mapping(parts.get("basic_auth_users"), "users").items()
        },
        headers={name: _header(name, value) for name, value in headers.items() if value},
    )


def _tls(parts: dict[str, Any], folder: Path) -> TlsConfig:
    _known(parts, _TLS_KEYS | _TLS_IGNORED, "tls_server_config")
    files = {key: folder / str(parts[key]) for key in ("cert_file", "key_file", "client_ca_file") if parts.get(key)}
    missing = [key for key in ("cert_file", "key_file") if key not in files]
    if missing:
        raise WebConfigError(f"tls_server_config has no {' and no '.join(missing)}")
    auth = str(parts.get("client_auth_type") or "NoClientCert")
    if auth not in CLIENT_AUTH:
        raise WebConfigError(f"client_auth_type {auth!r} is none of {', '.join(CLIENT_AUTH)}")
    if auth == "NoClientCert" and "client_ca_file" in files:
        raise WebConfigError("client_ca_file is given, but client_auth_type asks for no certificate")
    if auth != "NoClientCert" and "client_ca_file" not in files:
        raise WebConfigError(f"client_auth_type {auth} needs client_ca_file")
    lowest, highest = (str(parts.get(key) or default) for key, default in _VERSION_DEFAULTS.items())
    for version in (lowest, highest):
        if version not in VERSIONS:
            raise WebConfigError(f"TLS version {version!r} is none of {', '.join(VERSIONS)}")
    if VERSIONS[lowest] > VERSIONS[highest]:
        raise WebConfigError(f"min_version {lowest} is above max_version {highest}")
    return TlsConfig(files["cert_file"], files["key_file"], auth, files.get("client_ca_file"), lowest, highest)


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
