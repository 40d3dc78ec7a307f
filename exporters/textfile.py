"""Writes the page into a file, for the textfile collector of a node_exporter that is already there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write(file: Path, body: bytes) -> None:
    """Replace `file` at once, so that no reader sees half of it; raises OSError when it cannot be written."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(body)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
