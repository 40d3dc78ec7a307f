"""In which class did a request of any Locust user end? From what its `request` event gives, and from nothing else."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from socket import gaierror
from typing import Any

OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.EADDRINUSE, errno.ENOBUFS, errno.ENOMEM})
"""Failures of this machine, not of the target: no descriptor, no port, no memory. So is an unresolved name."""

DEEPEST = 12
"""Errors of a chain that are looked at."""


def outcome(exception: Any, response: Any) -> str:
    """One of `exporters.names.loadgen.OUTCOMES`. Clients wrap errors in errors: the whole chain is looked at."""
    if not exception:
        return "ok"
    chain = list(_causes(exception))
    if any(isinstance(error, gaierror) or getattr(error, "errno", None) in OURS for error in chain):
        return "generator_error"
    status = getattr(response, "status_code", None)
    if isinstance(status, int) and status >= 400:
        return "http_error"
    names = {kind.__name__ for error in chain for kind in type(error).__mro__}
    if any("Timeout" in name for name in names - {"ConnectTimeoutError"}) and "NewConnectionError" not in names:
        return "timeout"
    if "ConnectionError" in names or "OSError" in names or any(name.startswith("HTTPConnection") for name in names):
        return "connection_error"
    return "invalid_response"


def _causes(error: Any) -> Iterator[BaseException]:
    """The error and what is in it: causes, contexts, wrapped arguments; each once, not endless."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < DEEPEST:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
