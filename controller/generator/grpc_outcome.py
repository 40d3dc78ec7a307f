"""In which outcome class did a failed gRPC call end? From its status and the library's own words.

The same status can come from the target or from our own end of the connection: UNAVAILABLE is said by a full batching
queue and by a connection that broke, RESOURCE_EXHAUSTED by a busy server and by our own limit on messages. The library
does not tell which; but what it says itself it says in words of its own, and everything else is the target's.
"""

from __future__ import annotations

import re
from typing import Any

import grpc

from controller.generator import ledger

_LOST = re.compile(
    r"failed to connect|[Cc]onnections? to all backends|errors? resolving|DNS resolution|empty address list|"
    r"Socket closed|Stream removed|recvmsg|sendmsg|GOAWAY|RST_STREAM|Connection reset|Broken pipe|Cancelling all calls|"
    r"max connection age|connection attempt timed out|keepalive|[Pp]ing timeout|[Tt]oo many pings|[Hh]andshake|"
    r"[Tt]ransport closed|Endpoint clos|Connection dropped|unexpected EOF"
)
_NO_HTTP2 = "Failed parsing HTTP/2"
_NO_GRPC = re.compile(
    r"RST_STREAM|http2 header|Stream removed|Missing :|[Dd]ecompress|compressed|parsing|unexpected EOF"
)
_OUR_LIMIT = re.compile(r"(Received|Sent) message larger than max")
_THEIR_LIMIT = "SERVER:"
_OURSELVES = re.compile(r"Locally cancelled|Channel closed|Channel shutdown|by application")


def outcome_of_call(code: Any, details: str) -> int:
    """The class of a call that ended with this status and these words."""
    match code:
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return ledger.TIMEOUT
        case grpc.StatusCode.UNAVAILABLE if _NO_HTTP2 in details:
            return ledger.INVALID_RESPONSE
        case grpc.StatusCode.UNAVAILABLE if _LOST.search(details):
            return ledger.CONNECTION_ERROR
        case grpc.StatusCode.RESOURCE_EXHAUSTED if _OUR_LIMIT.search(details) and _THEIR_LIMIT not in details:
            return ledger.GENERATOR_ERROR
        case grpc.StatusCode.CANCELLED if _OURSELVES.search(details):
            return ledger.GENERATOR_ERROR
        case grpc.StatusCode.INTERNAL | grpc.StatusCode.UNKNOWN | grpc.StatusCode.DATA_LOSS if _NO_GRPC.search(details):
            return ledger.INVALID_RESPONSE
        case _:
            return ledger.HTTP_ERROR


def never_left(code: Any, outcome: int) -> bool:
    """Whether there is no connection, so that whoever tries again at once only burns CPU."""
    return code is grpc.StatusCode.UNAVAILABLE and outcome != ledger.HTTP_ERROR
