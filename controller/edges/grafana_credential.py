"""How we log in to Grafana: with a service account's token from a file, else with user and password."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A file that holds nothing but a service account token."""

    path: Path

    def authorization(self) -> str:
        """The header's value. Raises `OSError` or `ValueError` when there is no usable token in the file."""
        token = _secret(self.path).strip()
        if not token.isascii() or " " in token:
            raise ValueError(f"{self.path} does not hold a service account token")
        return f"Bearer {token}"


@dataclass(frozen=True, slots=True)
class PasswordFile:
    """A user and a file that holds nothing but the password."""

    user: str
    path: Path

    def authorization(self) -> str:
        """The header's value. Raises `OSError` or `ValueError` when there is no usable password in the file."""
        return "Basic " + base64.b64encode(f"{self.user}:{_secret(self.path)}".encode()).decode()


Credential = TokenFile | PasswordFile


def stamp(credential: Credential) -> str:
    """Changes when the credential's file does; says nothing about what is in it. Empty when there is no file."""
    try:
        found = credential.path.stat()
    except OSError:
        return ""
    return f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Remembers over restarts which credential file Grafana refused: a daemon that crashes and comes back again and
    again would lock the account."""

    path: Path

    def stamp(self) -> str | None:
        """The refused file's stamp, if one was refused."""
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def remember(self, refused: str) -> None:
        """Keep a stamp. Raises `OSError`."""
        self.path.write_text(refused, encoding="utf-8")


def _secret(path: Path) -> str:
    secret = path.read_text(encoding="utf-8").rstrip("\r\n")
    if not secret.strip() or not secret.isprintable():
        raise ValueError(f"{path} does not hold one line with a secret")
    return secret
