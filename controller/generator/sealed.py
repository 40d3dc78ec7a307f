"""Locust's channel has no idea who speaks on it: here every socket of it is sealed with a secret that both ends know.

CurveZMQ encrypts and authenticates each message. The server's key pair is derived from the secret, and a client has to
know the server's public key to be understood at all; that key is never sent. So nothing from anybody without the secret
gets as far as a message, and a worker obeys no master without it. What this does not do: tell workers from each other,
or protect from somebody who has the secret, or keep an open port from being flooded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import zmq
from locust.rpc import zmqrpc
from zmq.utils import z85


def seal(secret: str) -> None:
    """Let every socket of Locust that this process makes from now on speak with holders of the secret only."""
    server, client = _private("server", secret), _private("client", secret)
    server_public, client_public = zmq.curve_public(server), zmq.curve_public(client)
    base: Any = zmqrpc.BaseSocket
    make: Callable[..., None] = base.__init__

    def make_sealed(self: Any, sock_type: int, ipv4_only: bool) -> None:
        make(self, sock_type, ipv4_only)
        if sock_type == zmq.ROUTER:
            self.socket.curve_secretkey, self.socket.curve_publickey = server, server_public
            self.socket.curve_server = True
        else:
            self.socket.curve_secretkey, self.socket.curve_publickey = client, client_public
            self.socket.curve_serverkey = server_public

    base.__init__ = make_sealed


def _private(role: str, secret: str) -> bytes:
    return z85.encode(hashlib.sha256(f"stagelight generator {role}\0{secret}".encode()).digest())
