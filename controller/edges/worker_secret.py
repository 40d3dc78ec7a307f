"""The secret that a generator's master shares with workers of other hosts."""

from __future__ import annotations

from pathlib import Path

LEAST_BYTES = 16
"""A shorter secret could be guessed."""


def read_secret(path: Path) -> str:
    """The secret in a file, without the spaces around it. Raises `ValueError` with what is wrong and what to do."""
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"could not read the secret of the workers in {path}: {error}") from error
    if len(secret.encode()) < LEAST_BYTES:
        short = f"could not use the secret in {path}: it has less than {LEAST_BYTES} bytes"
        raise ValueError(f"{short}; make one with `openssl rand -hex 32`")
    return secret
