"""Before anything else starts: lay out what the containers share, namely scrape targets and Grafana's admin password.

    python prepare.py --targets FOLDER... --discovery FOLDER --password FILE --tfserving HOST:PORT

Runs on every `docker compose up`, also beside running containers, so it must not disturb them: a password that is
there stays, and a target file is replaced in one step or not at all.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

PASSWORD_BYTES = 24
READABLE = 0o644
GROUP_READABLE = 0o440
"""Grafana's user reads the password through a supplementary group."""


def place_targets(folders: Sequence[Path], discovery: Path, tfserving: str | None = None) -> list[Path]:
    """Copy every target file to the folder that Prometheus watches; of files of one name the last folder's wins.

    `tfserving` (host:port) takes the place of the server that the files name.

    Raises `OSError` or `ValueError` when one cannot be read or is no JSON: nothing has been changed then.
    """
    wanted = {path.name: path.read_text("utf-8") for folder in folders for path in sorted(folder.glob("*.json"))}
    if tfserving is not None:
        wanted["tfserving.json"] = json.dumps([{"targets": [tfserving], "labels": {}}]) + "\n"
    for name, text in wanted.items():
        try:
            json.loads(text)
        except ValueError as error:
            raise ValueError(f"{name} is not JSON: {error}") from error
    for name, text in wanted.items():
        replace(discovery / name, text, READABLE)
    return [discovery / name for name in wanted]


def place_password(path: Path) -> bool:
    """Write a new random password unless one is there; says whether it did. Raises `OSError`."""
    if path.exists() and path.stat().st_size > 0:
        return False
    replace(path, secrets.token_urlsafe(PASSWORD_BYTES), GROUP_READABLE)
    return True


def replace(path: Path, text: str, mode: int) -> None:
    """Write a file by temporary name, fsync and rename. Raises `OSError`."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the volumes; exit code 0, or 1 with one sentence."""
    parser = argparse.ArgumentParser(description="Lay out what the containers share.")
    parser.add_argument("--targets", type=Path, nargs="+", required=True, help="folders of target files, last wins")
    parser.add_argument("--discovery", type=Path, required=True, help="folder that Prometheus watches")
    parser.add_argument("--password", type=Path, required=True, help="file of Grafana's admin password")
    parser.add_argument("--tfserving", help="host:port of the server under test, if it is not the composition's own")
    given = parser.parse_args(arguments)
    try:
        placed = place_targets(given.targets, given.discovery, given.tfserving)
        fresh = place_password(given.password)
    except (OSError, ValueError) as error:
        sys.stderr.write(
            f"could not prepare the shared volumes: {error}. If a volume is full or of another user, free it or remove "
            "it: docker compose down --volumes\n"
        )
        return 1
    sys.stdout.write(f"{len(placed)} target files placed; admin password {'made' if fresh else 'kept'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
