"""Which address does a name stand for? Asked once, before load: a name server must not become part of a latency."""

from __future__ import annotations

import socket
from typing import Any

from controller.generator.http_request import Address, SpecError

PROBE_SECONDS = 1.0
"""How long an address may take to accept a connection before the next one is tried."""


def resolve(where: Address) -> tuple[int, Any]:
    """Family and socket address: the first one that accepts a connection, or the first one when none does now (a
    name often stands for an IPv6 and an IPv4 address, with a server on one of them). Raises `SpecError`."""
    if where.socket is not None:
        return socket.AF_UNIX, where.socket
    try:
        found = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise SpecError(
            f"could not resolve the target's name {where.host}: {error}; check the plan's target"
        ) from error
    for family, kind, protocol, _, sockaddr in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.settimeout(PROBE_SECONDS)
            try:
                probe.connect(sockaddr)
            except OSError:
                continue
        return family, sockaddr
    return found[0][0], found[0][4]
