"""May we send anything to this target? Loopback always; everything else only where the settings allow it by name."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from controller.plans.places import grpc_place
from controller.plans.plan import Target

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]


def resolve(host: str, port: int) -> Sequence[str]:
    """Every address that a name stands for. Raises `OSError`."""
    return sorted({str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})


def refusal(target: Target, allow: Sequence[str], resolver: Resolver = resolve) -> str | None:
    """Why nothing may be sent to the target, or None. Looks at every address of every host that the target names."""
    rest = None if (target.rest or "").startswith("unix:") else target.rest  # a socket is on this machine
    grpc = f"//{place}" if (place := grpc_place(target)) else None
    named = {"rest": rest, "metrics": target.metrics, "grpc": grpc}
    for key, url in named.items():
        if url is not None and (sentence := refused(f"target.{key}", url, allow, resolver)) is not None:
            return sentence
    return None


def refused(key: str, url: str, allow: Sequence[str], resolver: Resolver = resolve) -> str | None:
    """Why nothing may be sent to the URL that `key` of the plan names, or None."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = [_address(found) for found in resolver(host, port)]
    except OSError as error:
        return f"could not find the host {host} of {key}: {error.strerror or error}; correct {key}"
    strangers = [address for address in addresses if not _allowed(host, port, address, allow)]
    if not strangers:
        return None
    place = host if host == str(strangers[0]) else f"{host} ({strangers[0]})"
    return (
        f"{key} is {place}, which is not this machine and not allowed; nothing was sent. "
        f"If you may load it, add {host}:{port} to allow_targets (STAGELIGHT_ALLOW_TARGETS)"
    )


def _allowed(host: str, port: int, address: Address, allow: Sequence[str]) -> bool:
    return address.is_loopback or any(_matches(entry, host, port, address) for entry in allow)


def _matches(entry: str, host: str, port: int, address: Address) -> bool:
    try:
        return address in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        named = urlsplit(f"//{entry}")
        same_host = named.hostname in (host.lower(), str(address))
        return same_host and named.port in (None, port)


def _address(text: str) -> Address:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
