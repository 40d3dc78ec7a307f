"""gRPC Predict with bytes that were built before load, and the class of every way in which a call can end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from controller.generator import ledger
from controller.serving.predict import PREDICT

_PEER = "Error received from peer"
_TOO_LARGE = ("Received message larger than max", "Sent message larger than max")


class CallFailedError(Exception):
    """A call that did not end well. `unsent`: there is no connection, and whoever tries again at once burns CPU."""

    def __init__(self, code: Any, details: str, *, by_target: bool) -> None:
        """`by_target`: the target itself answered with this status."""
        super().__init__(f"{code.name}: {details}")
        self.outcome = outcome_of_call(code, details, by_target=by_target)
        self.unsent = self.outcome == ledger.CONNECTION_ERROR


def outcome_of_call(code: Any, details: str, *, by_target: bool) -> int:
    """The class of a call that ended with `code`.

    The same code can come from the target or from our own end: UNAVAILABLE is said by a full batching queue and by a
    connection that broke, RESOURCE_EXHAUSTED by a busy server and by our own limit on messages.
    """
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return ledger.TIMEOUT
    if by_target:
        return ledger.HTTP_ERROR
    if any(text in details for text in _TOO_LARGE):
        return ledger.GENERATOR_ERROR
    match code:
        case grpc.StatusCode.UNAVAILABLE:
            return ledger.CONNECTION_ERROR
        case grpc.StatusCode.INTERNAL | grpc.StatusCode.DATA_LOSS | grpc.StatusCode.UNKNOWN:
            return ledger.INVALID_RESPONSE
        case _:
            return ledger.GENERATOR_ERROR


@dataclass(frozen=True, slots=True)
class GrpcReply:
    """A message as it came."""

    body: bytes
    status: int = 200

    def header(self, name: bytes) -> bytes | None:  # noqa: ARG002 - the same for all replies
        """None is looked at."""
        return None


class GrpcConnection:
    """One channel; its connection is made with the first call, and anew after GOAWAY or loss."""

    __slots__ = ("_began", "_call", "_channel", "_made", "_metadata", "_own", "_timeout")

    def __init__(self, made: Callable[[], Any], metadata: Sequence[tuple[str, str]], timeout: float, own: bool) -> None:
        """`own`: closing ends the channel, because nobody else uses it."""
        self._made, self._metadata, self._timeout, self._own = made, metadata, timeout, own
        self._channel: Any = None
        self._call: Any = None
        self._began = 0.0

    def open(self, began: float) -> None:
        """A channel is there; whether it is connected is known only when a call ends."""
        self._began = began
        if self._channel is None:
            self._channel = self._made()
            self._call = self._channel.unary_unary(PREDICT)  # without serialisers: bytes in, bytes out

    def exchange(self, request: bytes) -> GrpcReply:
        """Raises `CallFailedError`."""
        left = self._began + self._timeout - time.perf_counter()
        try:
            return GrpcReply(self._call(request, timeout=max(left, 0.001), metadata=self._metadata))
        except grpc.RpcError as error:
            call: Any = error  # it is the call as well; the types do not say so
            by_target = _PEER in str(call.debug_error_string())
            raise CallFailedError(call.code(), str(call.details())[:200], by_target=by_target) from error

    def close(self) -> None:
        """After a failed call the channel stays: gRPC connects anew by itself."""

    def end(self) -> None:
        """Give the connection back."""
        if self._channel is not None and self._own:
            self._channel.close()
        self._channel = self._call = None
