"""The part of the web configuration that is about TLS: certificates, who may connect, versions, ciphers."""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exporters.ciphers import ALWAYS, CIPHERS, CURVES

CLIENT_AUTH = {
    "NoClientCert": ssl.CERT_NONE,
    "RequestClientCert": ssl.CERT_OPTIONAL,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireClientCert": ssl.CERT_REQUIRED,
    "RequireAnyClientCert": ssl.CERT_REQUIRED,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
"""Python's TLS always verifies a certificate that it got, which is stricter than some of these names say."""

VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}

Pem = Path | str
"""A file, or its content as it stands in the configuration."""


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """Certificates and rules; `ciphers` and `curve` are Go's names, and empty where nothing is asked for."""

    cert: Pem
    key: Pem
    client_auth: str = "NoClientCert"
    client_ca: Pem | None = None
    client_sans: frozenset[str] = frozenset()
    min_version: str = "TLS12"
    max_version: str = "TLS13"
    ciphers: tuple[str, ...] = ()
    server_prefers: bool = True
    curve: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that it is made of."""
        return tuple(pem for pem in (self.cert, self.key, self.client_ca) if isinstance(pem, Path))

    def context(self) -> ssl.SSLContext:
        """TLS for a server; raises OSError (also `ssl.SSLError`) or ValueError when a part cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.maximum_version = VERSIONS[self.min_version], VERSIONS[self.max_version]
        with _as_file(self.cert) as cert, _as_file(self.key) as key:
            context.load_cert_chain(cert, key)
        context.verify_mode = CLIENT_AUTH[self.client_auth]
        match self.client_ca:
            case Path() as file:
                context.load_verify_locations(file)
            case str(content):
                context.load_verify_locations(cadata=content)
        self._choose(context)
        return context

    def _choose(self, context: ssl.SSLContext) -> None:
        older = [CIPHERS[name] for name in self.ciphers if name not in ALWAYS]
        if older:
            context.set_ciphers(":".join(older))
        elif self.ciphers:  # only suites of TLS 1.3 are named, so nothing older may be spoken
            context.minimum_version = ssl.TLSVersion.TLSv1_3
        if not self.server_prefers:
            context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
        if self.curve:
            context.set_ecdh_curve(CURVES[self.curve])

    def welcomes(self, client: ssl.SSLSocket) -> bool:
        """Whether a client that has shaken hands has one of the names that may connect."""
        return not self.client_sans or not self.client_sans.isdisjoint(_names(client))


def _names(client: ssl.SSLSocket) -> Iterator[str]:
    """Every alternative name of the client's certificate; addresses in their shortest form, as Go writes them."""
    certificate = client.getpeercert() or {}
    for pair in certificate.get("subjectAltName", ()):
        kind, value = str(pair[0]), str(pair[1])
        yield str(ipaddress.ip_address(value.strip())) if kind == "IP Address" else value


@contextmanager
def _as_file(pem: Pem) -> Iterator[str]:
    """A path that Python can load: content goes into memory that no other program sees, never onto a disk."""
    if isinstance(pem, Path):
        yield str(pem)
        return
    descriptor = os.memfd_create("certificate")
    try:
        os.write(descriptor, pem.encode())
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
