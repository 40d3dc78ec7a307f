"""Where a target is: how its addresses are shown, and what stands in them."""

from __future__ import annotations

from controller.plans.plan import Target

SECURE = "grpcs://"
"""What a gRPC address over TLS begins with."""


def place_of(target: Target) -> str:
    """The one address by which people know the target: its REST interface, else its gRPC interface."""
    if target.rest is not None or target.grpc is None:
        return target.rest or ""
    return target.grpc if grpc_is_secure(target) else f"grpc://{target.grpc}"


def grpc_place(target: Target) -> str:
    """Host and port of the gRPC interface; empty without one."""
    return (target.grpc or "").removeprefix(SECURE)


def grpc_is_secure(target: Target) -> bool:
    """Whether gRPC is spoken over TLS."""
    return (target.grpc or "").startswith(SECURE)
