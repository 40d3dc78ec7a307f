"""In which outcome class did a request end that got no answer? Decided from what went wrong instead."""

from __future__ import annotations

from socket import gaierror
from typing import Protocol, runtime_checkable

from gevent import Timeout

from controller.generator import ledger
from controller.generator.answer import BadAnswerError
from exporters.loadgen_faults import GENERATOR_ERRNOS


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
        case OSError() if not is_ours(error):
            return ledger.CONNECTION_ERROR
        case _:
            return ledger.GENERATOR_ERROR


def is_ours(error: BaseException) -> bool:
    """Of this machine: no descriptor, port or memory, or a name that was not resolved."""
    return isinstance(error, gaierror) or (isinstance(error, OSError) and error.errno in GENERATOR_ERRNOS)
