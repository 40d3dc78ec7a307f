"""The master's end of the socket to the controller: commands in, reports out, and the end of the controller noticed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import gevent
from gevent import socket
from gevent.queue import Queue

from controller.orders import Command, Drain, Lease, Order, Quit, Report, decode, encode

log = logging.getLogger(__name__)


class Link:
    """Reports are queued and written by a greenlet of their own: a controller that does not read delays nobody."""

    def __init__(self, path: Path) -> None:
        """Connect to the controller's socket. Raises `OSError`."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(path))
        self._queue: Queue[bytes] = Queue()
        self._writer = gevent.spawn(self._write)

    def commands(self) -> Iterator[Command]:
        """Commands as they arrive, until the controller has closed or has died. Raises `ValueError` for other words."""
        rest = b""
        while data := self._receive():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                match message := decode(line):
                    case Order() | Lease() | Drain() | Quit():
                        yield message
                    case _:
                        raise ValueError(f"not a command: {type(message).__name__}")

    def send(self, report: Report) -> None:
        """Queue a report; never blocks."""
        self._queue.put(encode(report))

    def flush(self, timeout: float) -> None:
        """Wait until everything queued was written, at most `timeout` seconds."""
        self._queue.put(b"")
        self._writer.join(timeout=timeout)

    def _write(self) -> None:
        try:
            while line := self._queue.get():
                self._socket.sendall(line)
        except OSError as error:
            log.warning("could not report to the controller: %s", error)

    def _receive(self) -> bytes:
        try:
            data: bytes = self._socket.recv(65536)
        except OSError:
            return b""
        return data
