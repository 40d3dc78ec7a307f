"""HTTP over a Unix socket for `requests`: every call of a session goes to one socket, whatever host the URL names."""

from __future__ import annotations

import socket
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool


class UnixAdapter(HTTPAdapter):
    """Mount it at `http://`."""

    def __init__(self, path: str) -> None:
        """`path` is the socket's."""
        self._pool = _Pool(path)
        super().__init__()

    def get_connection_with_tls_context(self, *_: Any, **__: Any) -> HTTPConnectionPool:
        """The only pool there is."""
        return self._pool

    def close(self) -> None:
        """Let go of the connection."""
        super().close()
        self._pool.close()


class _Pool(HTTPConnectionPool):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def _new_conn(self) -> _Connection:
        return _Connection(self._path)


class _Connection(HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout if isinstance(self.timeout, int | float) else None)
        self.sock.connect(self._path)
