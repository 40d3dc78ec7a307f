"""Why Grafana did not do what it was asked: a closed list of reasons, each with what it means for the next attempt."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The `reason` label of `loadtest_annotation_failures_total`."""

    UNREACHABLE = "unreachable"  # refused, no route, a gateway's 502 to 504
    TIMEOUT = "timeout"
    SERVER_ERROR = "server_error"
    THROTTLED = "throttled"
    UNEXPECTED = "unexpected_answer"  # a redirect, a page instead of JSON, an id that is none
    UNAUTHORIZED = "unauthorized"
    NO_CREDENTIAL = "no_credential"
    FORBIDDEN = "forbidden"
    REFUSED = "refused"  # 400: what we sent is wrong
    GONE = "gone"  # the row was deleted between looking and writing
    READ_BACK = "read_back"  # Grafana shows another region than the one that was sent
    OUTBOX = "outbox"  # our own disk

    @property
    def gives_up(self) -> bool:
        """The same version would be refused for ever."""
        return self in (Reason.FORBIDDEN, Reason.REFUSED)

    @property
    def waits_for_credential(self) -> bool:
        """Repeating it would lock the account; only a changed credential helps."""
        return self in (Reason.UNAUTHORIZED, Reason.NO_CREDENTIAL)


class GrafanaError(Exception):
    """One call that failed. `ambiguous`: Grafana may have done it all the same. `retry_after` in seconds, if told."""

    def __init__(
        self, reason: Reason, sentence: str, *, ambiguous: bool = False, retry_after: float | None = None
    ) -> None:
        """`sentence` says what could not be done, where, and why."""
        super().__init__(sentence)
        self.reason = reason
        self.ambiguous = ambiguous
        self.retry_after = retry_after
