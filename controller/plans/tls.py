"""How an encrypted connection to the target is made: the keys of a plan, and the value that they become."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from controller.plans.payload_files import check_file
from controller.plans.readers import Text
from controller.plans.scalars import Flag
from controller.plans.tables import Fields, Key, Record


@dataclass(frozen=True, slots=True)
class Tls:
    """Files are absolute paths of PEM files."""

    verify: bool = True
    ca_file: Path | None = None  # instead of the system's authorities
    client_cert: Path | None = None
    client_key: Path | None = None  # without it the key is in `client_cert`


FILES = ("ca_file", "client_cert", "client_key")
_PEM = Text("a path", longest=1000)


def _check(fields: Fields) -> None:
    for name in FILES:
        if (text := fields.get(name)) is not None:
            try:
                check_file(fields.findings.folder / text)
            except ValueError as error:
                message, remedy = error.args
                fields.refuse(name, f"{text} {message}", remedy)
    if "client_key" in fields.lines and "client_cert" not in fields.lines:
        fields.refuse("client_key", "has no certificate that it belongs to", "add client_cert")


def _build(fields: Fields) -> Tls:
    folder = fields.findings.folder
    return Tls(**{k: (folder / v).resolve() if k in FILES else v for k, v in fields.values.items()})


TLS = Record(
    {
        "verify": Key(Flag(), "Whether the server's certificate is checked (true)."),
        "ca_file": Key(_PEM, "Authorities to trust instead of the system's, PEM; relative to the plan."),
        "client_cert": Key(_PEM, "Our certificate, PEM; relative to the plan."),
        "client_key": Key(_PEM, "Its key, PEM; without it the key is in client_cert."),
    },
    _build,
    _check,
)
"""How https is spoken."""
