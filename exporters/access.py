"""Who may read: TLS and passwords as the web configuration says now, without a restart when its files change."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import os
import secrets
import ssl
import threading
from collections import OrderedDict
from pathlib import Path

import bcrypt

from exporters.rate_limit import Bucket, RateLimit
from exporters.web_config import WebConfig, WebConfigError, load

logger = logging.getLogger(__name__)

_MOST_REMEMBERED = 128
_NOBODY = bcrypt.hashpw(b"nobody has this password", bcrypt.gensalt(10))
"""What an unknown user's password is held against, so that the time of the answer does not tell who exists."""

Stamp = tuple[tuple[str, int, int], ...]


class Access:
    """The current configuration. A file that was changed into nonsense is logged, and the last good one stays."""

    def __init__(self, file: Path) -> None:
        """Raises WebConfigError or OSError when the configuration cannot be used at the start."""
        self._file = file
        self._key = secrets.token_bytes(32)
        self._right: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()  # guessing passwords may cost one core, not all
        self._config, self._context = self._read()
        self._stamp = self._stamped()
        self._bucket: Bucket | None = None

    def current(self) -> tuple[WebConfig, ssl.SSLContext | None]:
        """The configuration and its TLS, read anew when a file has changed."""
        with self._lock:
            stamp = self._stamped()
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._config, self._context = self._read()
                    logger.info("web configuration read anew file=%s", self._file)
                except (OSError, WebConfigError) as error:
                    logger.warning("could not use the changed web configuration, keeping the last one: %s", error)
            return self._config, self._context

    def admits(self, limit: RateLimit | None, now: float) -> bool:
        """Whether the configuration's rate limit lets one more request in at `now` of the monotonic clock."""
        if limit is None:
            return True
        with self._lock:
            if self._bucket is None or self._bucket.limit != limit:
                self._bucket = Bucket(limit, now)
            bucket = self._bucket
        return bucket.admits(now)

    def allows(self, users: dict[str, bytes], header: str) -> bool:
        """Whether the request's `Authorization` header names a user with the right password."""
        name, password = _credentials(header)
        known = users.get(name)
        remembered = hmac.digest(self._key, b"\0".join((name.encode(), known or b"", password)), hashlib.sha256)
        with self._lock:
            if remembered in self._right:
                self._right.move_to_end(remembered)
                return True
        with self._one_at_a_time:
            right = bcrypt.checkpw(password[:72], known or _NOBODY) and known is not None
        if right:
            with self._lock:
                self._right[remembered] = None
                while len(self._right) > _MOST_REMEMBERED:
                    self._right.popitem(last=False)
        return right

    def _read(self) -> tuple[WebConfig, ssl.SSLContext | None]:
        config = load(self._file)
        try:
            return config, None if config.tls is None else config.tls.context()
        except ValueError as error:  # a curve that this OpenSSL does not have, or content that is no certificate
            raise WebConfigError(f"tls_server_config cannot be used: {error}") from error

    def _stamped(self) -> Stamp:
        files = (self._file, *(self._config.tls.files if self._config.tls is not None else ()))
        return tuple(_stamp(file) for file in files)


def _stamp(file: Path) -> tuple[str, int, int]:
    try:
        found = os.stat(file)  # noqa: PTH116 - the plain call, at every request
    except OSError:
        return (str(file), 0, 0)
    return (str(file), found.st_mtime_ns, found.st_ino)


def _credentials(header: str) -> tuple[str, bytes]:
    """User and password of a basic `Authorization` header; empty where it is none."""
    kind, _, encoded = header.partition(" ")
    if kind.lower() != "basic":
        return "", b""
    try:
        name, _, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return "", b""
    return name.decode("utf-8", "replace"), password
