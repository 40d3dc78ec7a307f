"""How the target is reached: a resolved address, TLS, limits of time and size; shared by all connections."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass, field
from typing import Any

from controller.generator.answer import MOST_ANSWER_BYTES
from controller.generator.deadlines import Deadlines
from controller.plans.tls import Tls


@dataclass(frozen=True, slots=True)
class Route:
    """`timeout` bounds connecting, sending and receiving together, `connect` connecting alone, in seconds; `most` is
    the largest body that is kept, in bytes. With `tls` the certificate has to be of `name`."""

    family: int
    sockaddr: Any
    timeout: float = 60.0
    connect: float | None = None
    most: int = MOST_ANSWER_BYTES
    tls: ssl.SSLContext | None = None
    name: str = ""
    bodiless: bool = False  # all requests are HEAD
    deadlines: Deadlines = field(default_factory=Deadlines)

    @property
    def is_tcp(self) -> bool:
        """Whether there is a TCP connection underneath."""
        return self.family in (socket.AF_INET, socket.AF_INET6)


def tls_context(tls: Tls | None) -> ssl.SSLContext:
    """Strict unless told otherwise. Raises `OSError` (also `ssl.SSLError`) for files that cannot be used."""
    wanted = tls or Tls()
    context = ssl.create_default_context(cafile=None if wanted.ca_file is None else str(wanted.ca_file))
    if not wanted.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if wanted.client_cert is not None:
        context.load_cert_chain(wanted.client_cert, wanted.client_key)
    context.set_alpn_protocols(["http/1.1"])
    return context
