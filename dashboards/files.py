"""The boards' JSON files: written atomically, or compared with what is there."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from dashboards.catalog import BOARDS
from dashboards.disk import put
from dashboards.grafana.render import text

COMMITTED = Path(__file__).parent / "json"
"""The generated files under version control: what provisioning mounts, and what changes are reviewed against."""


def documents() -> dict[str, str]:
    """File name to content, for every board; a file is named by its board's uid, which never changes."""
    return {f"{board.uid}.json": text(board) for board in BOARDS}


def write(folder: Path) -> tuple[Path, ...]:
    """Write every board's file into `folder`, which is made if needed; returns their paths.

    Each file appears whole or not at all: Grafana watches the folder. OSError if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(put(folder / name, content.encode()) for name, content in documents().items())


def differences(folder: Path) -> tuple[str, ...]:
    """How the files in `folder` differ from the boards, one unified diff a file; empty if they are equal."""
    return tuple(_differences(folder))


def _differences(folder: Path) -> Iterator[str]:
    wanted = documents()
    for name, content in wanted.items():
        path = folder / name
        there = path.read_text() if path.is_file() else ""
        if there != content:
            lines = difflib.unified_diff(
                there.splitlines(keepends=True), content.splitlines(keepends=True), f"{path}", f"{name} as generated"
            )
            yield "".join(lines)
    for path in sorted(folder.glob("*.json")):
        if path.name not in wanted:
            yield f"{path}: no board has this uid; delete the file\n"
