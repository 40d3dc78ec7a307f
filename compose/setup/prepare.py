"""Before anything else starts: lay out what the containers share: scrape targets, the plan, and secrets.

    python prepare.py --targets FOLDER... --discovery FOLDER --password FILE --worker-secret FILE \\
        --plan FILE COPY --target URL

Runs on every `docker compose up`, also beside running containers, so it must not disturb them: a secret that is there
stays, and another file is replaced in one step or not at all.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SECRET_BYTES = 24
READABLE = 0o644
GROUP_READABLE = 0o440
"""Grafana's user reads the password through a supplementary group."""
OURS_ALONE = 0o400

_TARGET = re.compile(r"(https?)://([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(?:/v1/models/([A-Za-z0-9_.-]+))?/?")
_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class Server:
    """The server under test: `host` with its port, and the model's name, if it is said."""

    scheme: str
    host: str
    model: str | None

    def discovery(self) -> str:
        """As a target file of Prometheus."""
        labels = {} if self.scheme == "http" else {"__scheme__": self.scheme}
        return json.dumps([{"targets": [self.host], "labels": labels}]) + "\n"


def read_server(url: str) -> Server:
    """The server of TARGET_URL. Raises `ValueError`."""
    found = _TARGET.fullmatch(url.strip())
    if found is None:
        raise ValueError(f"TARGET_URL is {url!r}: write it like http://model.example.internal:8501/v1/models/my_model")
    scheme, host, port, model = found.groups()
    return Server(scheme, host + (port or _PORTS[scheme]), model)


def aimed(plan: str, server: Server) -> str:
    """The plan's text with that server, and its model where one is said. Raises `ValueError`."""
    changes = {"rest": f"{server.scheme}://{server.host}"} | ({"model": server.model} if server.model else {})
    for key, value in changes.items():
        plan, times = re.subn(rf"(?m)^(target: .*\b{key}: )(\"[^\"]*\"|[^\s,}}]+)", rf'\g<1>"{value}"', plan)
        if times != 1:
            raise ValueError(f"the plan has no line `target: {{… {key}: …}}` that could be aimed at TARGET_URL")
    return plan


def place_targets(folders: Sequence[Path], discovery: Path, server: Server | None = None) -> list[Path]:
    """Copy every target file to the folder that Prometheus watches; of files of one name the last folder's wins.

    `server` takes the place of the one that the files name.

    Raises `OSError` or `ValueError` when one cannot be read or is no JSON: nothing has been changed then.
    """
    wanted = {path.name: path.read_text("utf-8") for folder in folders for path in sorted(folder.glob("*.json"))}
    if server is not None:
        wanted["tfserving.json"] = server.discovery()
    for name, text in wanted.items():
        try:
            json.loads(text)
        except ValueError as error:
            raise ValueError(f"{name} is not JSON: {error}") from error
    for name, text in wanted.items():
        replace(discovery / name, text, READABLE)
    return [discovery / name for name in wanted]


def place_secret(path: Path, mode: int) -> bool:
    """Write a new random secret unless one is there; says whether it did. Raises `OSError`."""
    if path.exists() and path.stat().st_size > 0:
        return False
    replace(path, secrets.token_urlsafe(SECRET_BYTES), mode)
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
    given = _arguments(arguments)
    try:
        server = read_server(given.target) if given.target else None
        if given.plan:
            source, copy = given.plan
            text = source.read_text("utf-8")
            replace(copy, aimed(text, server) if server else text, READABLE)
        placed = place_targets(given.targets, given.discovery, server)
        fresh = place_secret(given.password, GROUP_READABLE)
        if given.worker_secret:
            place_secret(given.worker_secret, OURS_ALONE)
    except (OSError, ValueError) as error:
        sys.stderr.write(
            f"could not prepare the shared volumes: {error}. If a volume is full or of another user, free it or remove "
            "it: docker compose down --volumes\n"
        )
        return 1
    sys.stdout.write(f"{len(placed)} target files placed; admin password {'made' if fresh else 'kept'}\n")
    return 0


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Lay out what the containers share.")
    parser.add_argument("--targets", type=Path, nargs="+", required=True, help="folders of target files, last wins")
    parser.add_argument("--discovery", type=Path, required=True, help="folder that Prometheus watches")
    parser.add_argument("--password", type=Path, required=True, help="file of Grafana's admin password")
    parser.add_argument("--worker-secret", type=Path, help="file of the secret that generator workers share")
    parser.add_argument("--plan", type=Path, nargs=2, help="a plan, and the file for its copy, aimed at --target")
    parser.add_argument("--target", help="address of the model under test, if it is not the composition's own")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
