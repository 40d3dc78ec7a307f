"""Canonical codes: which failure is which code, and which HTTP status the real server turns it into."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """A canonical code; its value is the gRPC status code."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


NAMES: dict[int, str] = {int(code): code.name for code in Code}
"""Names by number: an enum looks its names up slowly, and every request needs one."""
HTTP_STATUS: dict[Code, int] = {
    Code.OK: 200,
    Code.CANCELLED: 499,
    Code.UNKNOWN: 500,
    Code.INVALID_ARGUMENT: 400,
    Code.DEADLINE_EXCEEDED: 504,
    Code.NOT_FOUND: 404,
    Code.ALREADY_EXISTS: 409,
    Code.PERMISSION_DENIED: 403,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.FAILED_PRECONDITION: 400,
    Code.ABORTED: 409,
    Code.OUT_OF_RANGE: 400,
    Code.UNIMPLEMENTED: 501,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
    Code.DATA_LOSS: 500,
    Code.UNAUTHENTICATED: 401,
}


class Failure(Exception):  # noqa: N818 - the real server's word for it is a status, not an error
    """A request that gets no result: a canonical code and the sentence the client reads."""

    def __init__(self, code: Code, message: str) -> None:
        """Keep both parts; `str()` gives them the way the real server nests one status in another."""
        super().__init__(message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        """The code's name, a colon and the message."""
        return f"{self.code.name}: {self.message}"


def invalid(message: str) -> Failure:
    """The commonest failure: the client asked for something that cannot be."""
    return Failure(Code.INVALID_ARGUMENT, message)
