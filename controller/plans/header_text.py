"""Which request headers a plan may set, and how secrets stay out of it: `${env:NAME}` and `${file:/path}`.

References are resolved in the process that sends, when it builds its requests: no secret is ever written anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

REFERENCE = re.compile(r"\$\{(?:env:(?P<variable>[A-Za-z_][A-Za-z0-9_]*)|file:(?P<file>/[^{}$]{1,1000}))\}")

MOST_FILE_BYTES = 16_384

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
        raise ValueError("holds a reference that cannot be read", "write ${env:NAME} or ${file:/path}")
    if _SECRET.search(name) and without == value:
        raise ValueError(
            "looks like a secret, and a plan is no place for one",
            "set an environment variable and write ${env:NAME}, also inside a longer value",
        )


def resolve_headers(
    headers: tuple[tuple[str, str], ...], environment: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The headers with every reference replaced; of a file without the white space around its content.

    Raises `ValueError` that names a variable which is not set, or a file that cannot be read.
    """

    def value_of(reference: re.Match[str]) -> str:
        name = reference["variable"]
        what = f"the environment variable {name}" if name else f"the file {reference['file']}"
        value = environment.get(name) if name else _content(Path(reference["file"]))
        if not value:
            raise ValueError(f"{what} that a header of the plan refers to is {'not set' if name else 'empty'}")
        if not value.isprintable() or not value.isascii():
            raise ValueError(f"{what} holds characters that a header cannot carry")
        return value

    return tuple((name, REFERENCE.sub(value_of, value)) for name, value in headers)


def _content(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_FILE_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ValueError(f"the file {file} that a header of the plan refers to cannot be read: {why}") from error
