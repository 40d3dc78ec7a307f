"""Put a file at its place whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def put(path: Path, content: bytes) -> Path:
    """Put `content` at `path` by temporary name, fsync and rename; readable by all, as Grafana runs as another."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
    return path
