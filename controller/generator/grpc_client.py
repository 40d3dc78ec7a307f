"""gRPC Predict with bytes that were built before load."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from controller.generator.grpc_outcome import never_left, outcome_of_call
from controller.serving.predict import PREDICT


class CallFailedError(Exception):
    """A call that did not end well. `unsent`: there is no connection, and whoever tries again at once burns CPU."""

    def __init__(self, code: Any, details: str) -> None:
        """As the call told."""
        super().__init__(f"{code.name}: {details[:200]}")
        self.outcome = outcome_of_call(code, details)
        self.unsent = never_left(code, self.outcome)


@dataclass(frozen=True, slots=True)
class GrpcReply:
    """A message as it came."""

    body: bytes
    status: int = 200
    told: Sequence[tuple[str, str | bytes]] = ()  # metadata, where somebody wants to know

    def header(self, name: bytes) -> bytes | None:
        """The last value of that name in the metadata."""
        found = [value for key, value in self.told if key.encode() == name]
        value = found[-1] if found else None
        return value.encode("latin-1") if isinstance(value, str) else value


class GrpcConnection:
    """One channel; its connection is made with the first call, and anew after GOAWAY or loss."""

    __slots__ = ("_began", "_call", "_channel", "_listens", "_made", "_metadata", "_own", "_timeout")
    unread = 0.0

    def __init__(
        self,
        made: Callable[[], Any],
        metadata: Sequence[tuple[str, str]],
        timeout: float,
        own: bool,
        *,
        listens: bool = False,
    ) -> None:
        """`own`: closing ends the channel, because nobody else uses it. `listens`: replies carry their metadata."""
        self._listens = listens
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
            if self._listens:
                body, told = self._call.with_call(request, timeout=max(left, 0.001), metadata=self._metadata)
                return GrpcReply(body, told=(*told.initial_metadata(), *told.trailing_metadata()))
            return GrpcReply(self._call(request, timeout=max(left, 0.001), metadata=self._metadata))
        except grpc.RpcError as error:
            call: Any = error  # it is the call as well; the types do not say so
            raise CallFailedError(call.code(), str(call.details())) from error

    def close(self) -> None:
        """After a failed call the channel stays: gRPC connects anew by itself."""

    def end(self) -> None:
        """Give the connection back."""
        if self._channel is not None and self._own:
            self._channel.close()
        self._channel = self._call = None
