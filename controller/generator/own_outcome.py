"""In which outcome class did a request of somebody's user class end? Decided from the exception in its request event.

The class of an error is looked for in the whole chain of what caused it, because clients wrap errors in errors:
`requests` around urllib3 around the socket's. What a user class itself called a failure is `invalid_response`, unless
the answer's status says more. A mistake in the user class is `generator_error`.
"""

from __future__ import annotations

import ssl
from http.client import HTTPException
from typing import Any

import gevent
import requests
import urllib3.exceptions
from geventhttpclient.response import HTTPConnectionClosed, HTTPParseError
from locust.exception import CatchResponseError, LocustError

from controller.generator import ledger
from controller.generator.failures import is_ours
from exporters.loadgen_faults import causes

_TIMEOUTS = (gevent.Timeout, TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError)
_REFUSED = urllib3.exceptions.NewConnectionError  # which urllib3 derives from its timeouts
_BROKEN_ANSWERS = (
    HTTPParseError,
    requests.exceptions.ContentDecodingError,
    requests.exceptions.JSONDecodeError,
    urllib3.exceptions.DecodeError,
    UnicodeDecodeError,
)
_CONNECTIONS = (
    requests.ConnectionError,
    requests.exceptions.ChunkedEncodingError,
    urllib3.exceptions.HTTPError,
    HTTPConnectionClosed,
    HTTPException,
    ssl.SSLError,
    OSError,
)
_MISTAKES = (NameError, TypeError, AttributeError, ImportError, MemoryError, LocustError, NotImplementedError)
_BAD_REQUESTS = (
    requests.exceptions.InvalidURL,
    requests.exceptions.MissingSchema,
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidHeader,
)
_GRPC = {
    "DEADLINE_EXCEEDED": ledger.TIMEOUT,
    "UNAVAILABLE": ledger.CONNECTION_ERROR,
    "CANCELLED": ledger.GENERATOR_ERROR,
}


def own_outcome(exception: Any, response: Any) -> int:
    """The class of a request whose event carried `exception` (None for a good one; user classes may fire anything
    that is true) and `response`, which is an answer of Locust's clients, or anything, or nothing."""
    if not exception:
        return ledger.OK
    status = _status(response)
    if status is None and isinstance(error := getattr(response, "error", None), BaseException):
        exception = error  # there was no answer; whatever the user class made of that is not why
    if isinstance(exception, requests.HTTPError) or _says_http(status):
        return ledger.HTTP_ERROR
    if isinstance(exception, str | CatchResponseError | AssertionError) and status:
        return ledger.INVALID_RESPONSE
    chain = list(causes(exception))
    if any(is_ours(error) for error in chain):
        return ledger.GENERATOR_ERROR
    return _by_kind(exception, chain)


def _by_kind(exception: Any, chain: list[BaseException]) -> int:
    if isinstance(exception, _BAD_REQUESTS):
        return ledger.GENERATOR_ERROR
    if any(isinstance(error, _TIMEOUTS) and not isinstance(error, _REFUSED) for error in chain):
        return ledger.TIMEOUT
    if isinstance(exception, HTTPConnectionClosed) or _is_cut(exception):
        return ledger.CONNECTION_ERROR
    if isinstance(exception, _BROKEN_ANSWERS):
        return ledger.INVALID_RESPONSE
    if isinstance(exception, _CONNECTIONS):
        return ledger.CONNECTION_ERROR
    if (code := _grpc_code(exception)) is not None:
        return _GRPC.get(code, ledger.HTTP_ERROR)
    return ledger.GENERATOR_ERROR if isinstance(exception, _MISTAKES) else ledger.INVALID_RESPONSE


def _is_cut(exception: Any) -> bool:
    """geventhttpclient has one class for answers that are no HTTP and for those whose end never came."""
    return isinstance(exception, HTTPParseError) and str(exception).startswith("Incomplete")


def _status(response: Any) -> int | None:
    """Locust's clients say 0 where there was no answer."""
    status = getattr(response, "status_code", None)
    return status if isinstance(status, int) and status else None


def _says_http(status: int | None) -> bool:
    return isinstance(status, int) and status >= 400


def _grpc_code(exception: Any) -> str | None:
    """The status of a gRPC error, whichever library it is from."""
    code = getattr(exception, "code", None)
    name = getattr(code() if callable(code) else None, "name", None)
    return name if isinstance(name, str) else None
