"""How a gRPC channel to the target is made: limits and certificates said openly, no proxy, no silent retries."""

from __future__ import annotations

import os
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc

from controller.plans.header_text import resolve_headers
from controller.plans.places import grpc_is_secure, grpc_place
from controller.plans.plan import Target, Workload
from controller.plans.tls import Tls

Metadata = Sequence[tuple[str, str]]
"""Names and values."""

METADATA_BYTES = 16 * 1024 * 1024
"""Of an answer about a model; the plan's limit is for predictions."""

CONNECT_MS = 20_000
"""How long an attempt to connect may take; requests that wait for it end at their own timeout. gRPC calls it the least
time between attempts."""

MOST_REQUEST_BYTES = 1024 * 1024 * 1024
"""Larger requests are our own mistake."""


def channel(target: Target, workload: Workload, most: int | None = None) -> grpc.Channel:
    """`most` bytes of an answer instead of the plan's. Not connected yet; raises `OSError` for certificates.

    `connections: per_user` gives every channel a TCP connection of its own; gRPC would share one among all.
    """
    options = [
        ("grpc.use_local_subchannel_pool", int(workload.connections == "per_user")),
        ("grpc.max_receive_message_length", workload.max_answer if most is None else most),
        ("grpc.max_send_message_length", MOST_REQUEST_BYTES),
        ("grpc.enable_retries", 0),
        ("grpc.enable_http_proxy", 0),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", CONNECT_MS),
        ("grpc.max_reconnect_backoff_ms", 1000),
    ]
    place = grpc_place(target)
    if not grpc_is_secure(target):
        return grpc.insecure_channel(place, options=options)
    return grpc.secure_channel(place, credentials(target.tls or Tls()), options=options)


def call(channel: grpc.Channel, method: str, request: bytes, headers: Metadata, seconds: float) -> bytes:
    """The bytes of one answer. Raises `grpc.RpcError`."""
    ask: Any = channel.unary_unary(method, request_serializer=None, response_deserializer=None)
    answer: bytes = ask(request, timeout=seconds, metadata=headers)
    return answer


def credentials(tls: Tls) -> grpc.ChannelCredentials:
    """The system's authorities unless the plan names others, and our certificate. Raises `OSError`.

    A file that is no PEM would be noticed only when connecting, as a handshake that fails without a reason: it is
    looked at here.
    """
    roots = tls.ca_file or _system_authorities()
    chain = _pem(tls.client_cert, "CERTIFICATE") if tls.client_cert else None
    key = _pem(tls.client_key or tls.client_cert, "PRIVATE KEY") if tls.client_cert else None
    return grpc.ssl_channel_credentials(_pem(roots, "CERTIFICATE") if roots else None, key, chain)


def _pem(file: Path | None, what: str) -> bytes:
    if file is None:
        raise OSError("no file was named")
    content = file.read_bytes()
    if what.encode() + b"-----" not in content:
        raise OSError(f"{file} holds no {what.lower()} in PEM form")
    return content


def _system_authorities() -> Path | None:
    """Without one gRPC takes those that it brings along."""
    found = ssl.get_default_verify_paths().cafile
    return Path(found) if found else None


def metadata(workload: Workload) -> Metadata:
    """The plan's headers as gRPC metadata, secrets resolved. Raises `ValueError`."""
    return [(name.lower(), value) for name, value in resolve_headers(workload.headers, os.environ)]
