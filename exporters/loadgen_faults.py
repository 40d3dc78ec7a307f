"""What failed on the generator's own machine, wherever it stands in a chain: clients wrap errors in errors."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import Any

GENERATOR_ERRNOS = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.EADDRINUSE, errno.ENOBUFS, errno.ENOMEM}
)
"""Failures of this machine, not of the target: no descriptor, no local port, no memory. So is a name that was not
resolved."""

DEEPEST = 12
"""Errors of a chain that are looked at."""


def causes(error: Any) -> Iterator[BaseException]:
    """The error and what is in it: causes, contexts, wrapped arguments; each once, not endless."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < DEEPEST:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
