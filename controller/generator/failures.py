"""In which outcome class did a request end that got no answer? Decided from what went wrong instead."""

from __future__ import annotations

import errno
from socket import gaierror
from typing import Protocol, runtime_checkable

from gevent import Timeout

from controller.generator import ledger
from controller.generator.answer import BadAnswerError

GENERATOR_ERRNOS = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.EADDRINUSE, errno.ENOBUFS, errno.ENOMEM}
)
"""Failures of this machine, not of the target: no descriptor, no local port, no memory. So is a name that was not
resolved."""


@runtime_checkable
class Classed(Protocol):
    """An error that knows its class, because only the code that raised it does."""

    @property
    def outcome(self) -> int:
        """Position in `OUTCOMES`."""
        ...


def outcome_of(error: BaseException) -> int:
    """The class of a request that got no answer."""
    match error:
        case Classed():
            return error.outcome
        case Timeout() | TimeoutError():
            return ledger.TIMEOUT
        case BadAnswerError():
            return ledger.INVALID_RESPONSE
        case gaierror():
            return ledger.GENERATOR_ERROR
        case OSError() if error.errno not in GENERATOR_ERRNOS:
            return ledger.CONNECTION_ERROR
        case _:
            return ledger.GENERATOR_ERROR
