"""How a gRPC channel to the target is made: limits said openly, no proxy, no retries behind our back."""

from __future__ import annotations

import os
from collections.abc import Sequence

import grpc

from controller.plans.header_text import resolve_headers
from controller.plans.plan import Target, Workload

METADATA_BYTES = 16 * 1024 * 1024
"""Of an answer about a model; the plan's limit is for predictions."""

MOST_REQUEST_BYTES = 1024 * 1024 * 1024
"""Larger requests are our own mistake."""


def channel(target: Target, workload: Workload, most: int | None = None) -> grpc.Channel:
    """`most` bytes of an answer instead of the plan's. Not connected yet; in plain text, TLS is for REST.

    `connections: per_user` gives every channel a TCP connection of its own; gRPC would share one among all.
    """
    options = [
        ("grpc.use_local_subchannel_pool", int(workload.connections == "per_user")),
        ("grpc.max_receive_message_length", workload.max_answer if most is None else most),
        ("grpc.max_send_message_length", MOST_REQUEST_BYTES),
        ("grpc.enable_retries", 0),
        ("grpc.enable_http_proxy", 0),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1000),
    ]
    return grpc.insecure_channel(target.grpc or "", options=options)


def metadata(workload: Workload) -> Sequence[tuple[str, str]]:
    """The plan's headers as gRPC metadata, secrets resolved. Raises `ValueError`."""
    return [(name.lower(), value) for name, value in resolve_headers(workload.headers, os.environ)]
