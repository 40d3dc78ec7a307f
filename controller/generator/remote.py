"""A worker on another host than its master: it knocks until it gets a place, then it works as any other.

Its clock may differ from the master's. So leases count from the moment at which they arrive, less what they are later
than the quickest one was; a lease that was held up on its way is not fresh.
"""

from __future__ import annotations

import logging
import os
import socket
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gevent
from locust.rpc import protocol, zmqrpc

from controller.generator import wire
from controller.generator.cargo import unpack
from controller.generator_spec import GeneratorSpec

KNOCK_SECONDS = 2.0
"""How long an answer is waited for before a new connection knocks again."""

log = logging.getLogger(__name__)

Client: Any = zmqrpc.Client
Message: Any = protocol.Message

Refuses = Callable[[GeneratorSpec], str | None]


@dataclass(frozen=True, slots=True)
class Seat:
    """What a worker was told by its master."""

    name: str
    part: int
    cargo: dict[str, Any]


def run(host: str, port: int, refuses: Refuses, work: Callable[[GeneratorSpec, Seat], int]) -> int:
    """Wait for a place, then `work`; the exit code. `refuses` says why a target may not be loaded from this host."""
    while (found := _knock(host, port)) is None:
        pass
    client, seat = found
    with tempfile.TemporaryDirectory(prefix="stagelight-") as folder:
        spec = unpack(seat.cargo, Path(folder))
        if (why := refuses(spec)) is not None:
            log.error("%s", why)
            client.send(Message(wire.UNFIT, {"what": f"{seat.name} on {socket.gethostname()}: {why}"}, seat.name))
            gevent.sleep(0.5)
            return 1
        client.close(linger=0)
        return work(spec, seat)


def _knock(host: str, port: int) -> tuple[Any, Seat] | None:
    address = f"knock_{uuid.uuid4().hex}"
    client = Client(host, port, address)
    words = {"host": socket.gethostname(), "pid": os.getpid(), "version": version("stagelight")}
    client.send(Message(wire.KNOCK, words, address))
    answer: Any = None
    with gevent.Timeout(KNOCK_SECONDS, False):
        answer = client.recv()
    if answer is not None and answer.type == wire.WELCOME:
        body = answer.data
        return client, Seat(body["name"], body["part"], body)
    client.close(linger=0)
    if answer is not None:
        log.warning("the master at %s:%d turned this worker away: %s", host, port, answer.data)
        gevent.sleep(KNOCK_SECONDS)
    return None
