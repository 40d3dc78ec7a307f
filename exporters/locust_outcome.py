"""In which class did a request of any Locust user end? From what its `request` event gives, and from nothing else."""

from __future__ import annotations

from socket import gaierror
from typing import Any

from exporters.loadgen_faults import GENERATOR_ERRNOS, causes


def outcome(exception: Any, response: Any) -> str:
    """One of `exporters.names.loadgen.OUTCOMES`. Clients wrap errors in errors: the whole chain is looked at."""
    if not exception:
        return "ok"
    chain = list(causes(exception))
    if any(isinstance(error, gaierror) or getattr(error, "errno", None) in GENERATOR_ERRNOS for error in chain):
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
