"""What a sender needs of whatever speaks to the target: lean HTTP, Locust's FastHttpUser client, gRPC."""

from __future__ import annotations

from typing import Any, Protocol


class Reply(Protocol):
    """What came back; good until the next exchange of the same client."""

    @property
    def status(self) -> int:
        """HTTP's code; 200 for a gRPC call that ended well."""
        ...

    @property
    def body(self) -> bytes:
        """The whole body, or the serialised message."""
        ...

    def header(self, name: bytes) -> bytes | None:
        """A header's value by its name in lower case."""
        ...


class Client(Protocol):
    """One user's way to the target; at most one request at a time."""

    @property
    def unread(self) -> float:
        """How long the last answer's end had been on this machine when it was read, seconds; 0 if that is unknown."""
        ...

    def open(self, began: float) -> None:
        """Be ready to send, for a request that began at `began` (`time.perf_counter`); it ends within the timeout."""
        ...

    def exchange(self, request: Any) -> Reply:
        """Send and receive. Raises what `outcome_of` classes; then call `close`."""
        ...

    def close(self) -> None:
        """Start over after a failure."""
        ...

    def end(self) -> None:
        """Let go of everything."""
        ...
