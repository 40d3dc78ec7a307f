"""Which request headers a plan may set, and how secrets stay out of it: `${env:NAME}`, resolved when load starts."""

from __future__ import annotations

import re
from collections.abc import Mapping

REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "te", "upgrade", "trailer", "expect"})
_SECRET = re.compile(r"authori[sz]ation|cookie|token|secret|password|credential|api-?key", re.IGNORECASE)


def check_header(name: str, value: str) -> None:
    """Raise `ValueError(message, remedy)` for a header that cannot be sent as written, or that holds a secret."""
    if not _NAME.fullmatch(name):
        raise ValueError("is not a header name", "use letters, digits and hyphens")
    if name.lower() in _OURS:
        raise ValueError("is set by the load generator", "remove it")
    if not value.isascii():
        raise ValueError("holds characters outside ASCII", "encode the value")
    without = REFERENCE.sub("", value)
    if "${" in without:
        raise ValueError("holds a reference that cannot be read", "write ${env:NAME} with the name of a variable")
    if _SECRET.search(name) and without == value:
        raise ValueError(
            "looks like a secret, and a plan is no place for one",
            "set an environment variable and write ${env:NAME}, also inside a longer value",
        )


def resolve_headers(
    headers: tuple[tuple[str, str], ...], environment: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The headers with every `${env:NAME}` replaced. Raises `ValueError` that names a variable which is not set."""

    def value_of(reference: re.Match[str]) -> str:
        value = environment.get(reference[1])
        if not value:
            raise ValueError(f"the environment variable {reference[1]} that a header of the plan refers to is not set")
        if not value.isprintable() or not value.isascii():
            raise ValueError(f"the environment variable {reference[1]} holds characters that a header cannot carry")
        return value

    return tuple((name, REFERENCE.sub(value_of, value)) for name, value in headers)
