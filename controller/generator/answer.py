"""An HTTP answer as the parser (llhttp, through httptools) meets it; one object serves all answers of a connection."""

from __future__ import annotations

from typing import Any

import httptools

MOST_ANSWER_BYTES = 64 * 1024 * 1024
"""A body that grows beyond this is given up unless the plan says otherwise: it would take the generator's memory."""

MOST_HEAD_BYTES = 64 * 1024
"""The same for status line and headers, interim answers (1xx) before them included."""


class ConnectionLostError(ConnectionError):
    """The connection ended before the answer did."""


class BadAnswerError(Exception):
    """What came back is not an HTTP answer, or none that can be kept."""


class Answer:
    """`complete` is set by the last byte; `keep_alive` says then whether the connection can be used again."""

    __slots__ = (
        "_most",
        "_parser",
        "_parts",
        "_size",
        "_spent",
        "begun",
        "bodiless",
        "complete",
        "head",
        "keep_alive",
        "status",
    )

    def __init__(self, most: int = MOST_ANSWER_BYTES, *, bodiless: bool = False) -> None:
        """Nothing received yet; at most `most` bytes of body are kept. `bodiless`: answers to HEAD have none."""
        self._most = most
        self.bodiless = bodiless
        self._spent = True
        self.reset()

    def reset(self) -> None:
        """Wait for the next answer on the same connection."""
        if self._spent:
            self._parser: Any = httptools.HttpResponseParser(self)
            self._spent = False
        self.status = 0
        self.begun = False  # all headers of the answer are here
        self.complete = False
        self.keep_alive = False
        self.head = b""  # what was received until the headers were complete, and some of the body
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def body(self) -> bytes:
        """Everything received of the body."""
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def header(self, name: bytes) -> bytes | None:
        """The last value of a header by its name in lower case, without the white space around it."""
        found = None
        for line in self.head.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]:
            field, _, value = line.partition(b":")
            if field.lower() == name:
                found = value.strip()
        return found

    def feed(self, data: bytes) -> None:
        """Take what was received. Raises `BadAnswerError`."""
        if not self.begun:
            self.head = self.head + data if self.head else data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as error:
            raise BadAnswerError("the server changed to another protocol") from error
        except httptools.HttpParserError as error:
            self.keep_alive = False  # the stream cannot be trusted any more
            if not self.complete:  # otherwise there are bytes after the answer, and the answer counts
                raise BadAnswerError(str(error.__context__ or error)) from error
        if not self.begun and len(self.head) > MOST_HEAD_BYTES:
            raise BadAnswerError(f"the answer's headers are larger than {MOST_HEAD_BYTES // 1024} KiB")

    def end(self) -> None:
        """The server closed: the end of an answer without a length, otherwise `ConnectionLostError`."""
        if not self.head:
            raise ConnectionLostError("the server closed the connection before the first byte of its answer")
        fields = self.head.partition(b"\r\n\r\n")[0].lower()
        if not self.begun or b"\r\ncontent-length:" in fields or b"\r\ntransfer-encoding:" in fields:
            raise ConnectionLostError("the server closed the connection before its answer was complete")
        self.complete = True

    def on_message_begin(self) -> None:
        """The parser met the first byte of an answer; one after the last of ours is not for us."""
        if self.complete:
            raise BadAnswerError("the server sent more than one answer")

    def on_headers_complete(self) -> None:
        """The parser met the empty line; interim answers (1xx) come before the answer."""
        self.status = status = self._parser.get_status_code()
        self.begun = status >= 200
        if self.bodiless and self.begun:
            self.complete, self.keep_alive = True, self._parser.should_keep_alive()
            self._spent = True  # it waits for the body that was announced; it does not know what was asked

    def on_body(self, data: bytes) -> None:
        """The parser found a piece of the body."""
        self._size += len(data)
        if self._size > self._most:
            raise BadAnswerError(f"the answer is larger than {self._most:,} bytes")
        self._parts.append(data)

    def on_message_complete(self) -> None:
        """The parser met the end of a message; it knows only here whether the connection may be used again."""
        if self.begun:
            self.complete = True
            self.keep_alive = self._parser.should_keep_alive()
