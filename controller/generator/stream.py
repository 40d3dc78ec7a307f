"""Bytes to and from the target: a socket that never blocks the process, bare or under TLS.

The sockets are the interpreter's own (`_socket`), not gevent's: that costs a third. Each has one watcher, which stays
on from answer to answer: where the loop turns between two requests, to start it anew would be a system call.

The kernel stamps what arrives (`SO_TIMESTAMPNS`, socket(7)), so that it is known how long an answer lay here unread
while our loop was busy, or our process without a core: that is no time of the target's.
"""

from __future__ import annotations

import _socket
import errno
import os
import ssl
import struct
import sys
import time
from contextlib import suppress
from typing import Any

from gevent import get_hub, getcurrent

from controller.generator.deadlines import Wait

RECEIVE_BYTES = 32 * 1024

_READ, _WRITE = 1, 2
_STAMPS = 35 if sys.platform == "linux" else None  # SO_TIMESTAMPNS, which the interpreter has no name for
_STAMP = struct.Struct("@ll")
_STAMP_ROOM = _socket.CMSG_SPACE(_STAMP.size)
_UNDER_WAY = (errno.EINPROGRESS, errno.EWOULDBLOCK)


class Stream:
    """A connected socket; `wait` is where `Deadlines` finds out who waits for it."""

    __slots__ = ("_hub", "_reader", "_socket", "_switch_to_hub", "_wait", "_watched", "unread")

    def __init__(self, family: int, wait: Wait) -> None:
        """Not connected yet. Raises `OSError`."""
        self._hub: Any = get_hub()
        self._switch_to_hub = self._hub.switch
        self._socket = _socket.socket(family, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC | _socket.SOCK_NONBLOCK)
        if _STAMPS is not None:
            with suppress(OSError):
                self._socket.setsockopt(_socket.SOL_SOCKET, _STAMPS, 1)
        self.unread = 0.0  # seconds that the newest bytes had been here when they were read; 0 where it is not known
        self._reader: Any = self._hub.loop.io(self._socket.fileno(), _READ)
        self._watched = False
        self._wait = wait

    def connect(self, sockaddr: Any, *, tcp: bool) -> None:
        """Raises `OSError`."""
        if tcp:
            self._socket.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        code = self._socket.connect_ex(sockaddr)
        if code in _UNDER_WAY:
            self.writable()
            code = self._socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))

    def send(self, data: bytes) -> None:
        """Hand everything to the kernel. Raises `OSError`."""
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self._send_rest(memoryview(data)[sent:])

    def receive(self) -> bytes:
        """Wait for bytes; none means that the server closed. Raises `OSError`."""
        wait = self._wait
        while True:
            wait.greenlet = getcurrent()
            if not self._watched:
                self._watched = True
                self._reader.start(self._readable)
            try:
                self._switch_to_hub()
            finally:
                wait.greenlet = None
            try:
                data, stamps, _, _ = self._socket.recvmsg(RECEIVE_BYTES, _STAMP_ROOM)
            except BlockingIOError:
                continue
            self.unread = _since(stamps[0][2]) if stamps else 0.0
            return data

    def writable(self) -> None:
        """Wait until there is room to send; what arrives meanwhile is left for later."""
        self._stop_watching()
        writer = self._hub.loop.io(self._socket.fileno(), _WRITE)
        self._wait.greenlet = greenlet = getcurrent()
        writer.start(greenlet.switch)
        try:
            self._switch_to_hub()
        finally:
            writer.stop()
            writer.close()
            self._wait.greenlet = None

    def quiet(self) -> bool:
        """Whether nothing waits to be read: neither the server's end nor bytes that nobody asked for."""
        try:
            self._socket.recv(1, _socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Give the socket back."""
        self._stop_watching()
        self._reader.close()
        self._socket.close()

    def _readable(self) -> None:
        """Runs in the hub: whoever waits goes on from here until its next wait."""
        greenlet = self._wait.greenlet
        if greenlet is None:  # the server's end, or bytes that nobody asked for: the next one to send will see them
            self._stop_watching()
        else:
            greenlet.switch()

    def _stop_watching(self) -> None:
        self._watched = False
        self._reader.stop()

    def _send_rest(self, rest: memoryview) -> None:
        while rest:
            self.writable()
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                continue


def _since(stamp: bytes) -> float:
    """Seconds since a stamp of the wall clock."""
    seconds, nanoseconds = _STAMP.unpack(stamp)
    since: float = time.time() - seconds - nanoseconds * 1e-9
    return since


class TlsStream(Stream):
    """The same under TLS; a kept connection is `quiet` as long as the socket is."""

    __slots__ = ("_incoming", "_outgoing", "_tls")

    def __init__(self, family: int, wait: Wait, context: ssl.SSLContext, name: str) -> None:
        """Not connected yet."""
        super().__init__(family, wait)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=name)

    def connect(self, sockaddr: Any, *, tcp: bool) -> None:
        """With the handshake. Raises `OSError`, also `ssl.SSLError`."""
        super().connect(sockaddr, tcp=tcp)
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._take()
            except ssl.SSLError:
                self._flush()  # the alert, so that the server knows why, too
                raise
            else:
                self._flush()
                return

    def send(self, data: bytes) -> None:
        """Encrypted."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        self._flush()

    def receive(self) -> bytes:
        """Decrypted."""
        while True:
            try:
                return self._tls.read(RECEIVE_BYTES)
            except ssl.SSLWantReadError:
                self._flush()
                self._take()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    def _take(self) -> None:
        if data := super().receive():
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def _flush(self) -> None:
        if data := self._outgoing.read():
            super().send(data)
