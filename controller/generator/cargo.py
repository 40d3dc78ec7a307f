"""A specification with the files that it names, as one message to a worker on another host, and unpacked there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from controller.generator.http_request import SpecError
from controller.generator_spec import GeneratorSpec, decode_spec, encode_spec

MOST_BYTES = 64 * 2**20
"""Of all files of a plan together, when workers on other hosts need them."""


def pack(spec: GeneratorSpec) -> dict[str, Any]:
    """Without the secret, which the other side has. Raises `SpecError` when the files are too large or unreadable."""
    files: dict[str, bytes] = {}

    def take(path: Path) -> Path:
        try:
            files.setdefault(str(path), path.read_bytes() if path.stat().st_size <= MOST_BYTES else b"\0" * MOST_BYTES)
        except OSError as error:
            raise SpecError(f"could not send {path} to a worker on another host: {error.strerror}") from error
        if sum(map(len, files.values())) >= MOST_BYTES:
            raise SpecError(
                f"could not send {path} to a worker on another host: the plan's files have more than "
                f"{MOST_BYTES // 2**20} MiB; use a smaller pool, or local workers"
            )
        return path

    _with_paths(spec, take)
    return {"spec": encode_spec(replace(spec, secret="")), "files": files}


def unpack(cargo: dict[str, Any], folder: Path) -> GeneratorSpec:
    """The specification, its files written to `folder`, each in a folder of its own under its own name."""
    places: dict[str, Path] = {}
    for number, (name, content) in enumerate(cargo["files"].items()):
        place = folder / str(number) / Path(name).name
        place.parent.mkdir()
        place.write_bytes(content)
        places[name] = place
    spec: GeneratorSpec = _with_paths(decode_spec(cargo["spec"]), lambda path: places[str(path)])
    return spec


def _with_paths(value: Any, change: Callable[[Path], Path]) -> Any:
    """The same value with every path in it changed."""
    if isinstance(value, Path):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_with_paths(one, change) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: _with_paths(getattr(value, field.name), change) for field in fields(value)}
        return replace(value, **changed)
    return value
