"""The bytes of whole HTTP requests, built once before load: request line, headers and body of every payload."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from controller.generator_spec import GeneratorSpec
from controller.plans.payloads import bodies
from controller.plans.plan import Target, Workload

DEFAULT_FIELDS = {"row": ("predictions",), "column": ("outputs",)}
"""What TF Serving's answer to each form carries."""


class SpecError(ValueError):
    """The generator cannot do what its specification asks; the message says what and why."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: host as in the URL, port."""

    host: str
    port: int


def address(target: Target) -> Address:
    """Host and port of the target's REST interface. Raises `SpecError`."""
    url = urlsplit(target.rest)
    if url.scheme != "http" or not url.hostname:
        raise SpecError(f"could not use the target {target.rest}: the generator speaks plain http:// only")
    return Address(url.hostname, url.port or 80)


def path(target: Target, workload: Workload) -> str:
    """The path that requests are posted to. Raises `SpecError`."""
    prefix = urlsplit(target.rest).path.rstrip("/")
    match target.kind:
        case "tfserving":
            if target.model is None:
                raise SpecError(f"could not address a model at {target.rest}: the target names none")
            return f"{prefix}/v1/models/{quote(target.model, safe='')}{_which(target)}:predict"
        case "http":
            own = workload.path or "/"
            return prefix + (own if own.startswith("/") else f"/{own}")


def _which(target: Target) -> str:
    if target.version is not None:
        return f"/versions/{target.version}"
    return "" if target.label is None else f"/labels/{quote(target.label, safe='')}"


def requests(spec: GeneratorSpec, part: int) -> list[bytes]:
    """All requests of worker `part`, in sending order. Raises `SpecError` and `PayloadError`."""
    target, workload = spec.target, spec.workload
    head = _head(address(target), path(target, workload), workload.headers)
    encoded = bodies(workload, target.kind, part=part, parts=spec.workers)
    return [b"%sContent-Length: %d\r\n\r\n%s" % (head, len(body), body) for body in encoded]


def required_fields(target: Target, workload: Workload) -> tuple[str, ...]:
    """Top-level names that an answer must carry to be valid."""
    if workload.required_fields or target.kind != "tfserving":
        return workload.required_fields
    return DEFAULT_FIELDS[workload.form]


def _head(where: Address, target_path: str, headers: Iterable[tuple[str, str]]) -> bytes:
    host = f"[{where.host}]" if ":" in where.host else where.host
    fields = {"host": ("Host", host if where.port == 80 else f"{host}:{where.port}")}
    fields["content-type"] = ("Content-Type", "application/json")
    for name, value in headers:
        if name.lower() in ("content-length", "transfer-encoding"):
            raise SpecError(f"could not send the header {name}: the generator sets it itself; remove it")
        fields[name.lower()] = (name, value)
    lines = [f"POST {target_path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.values())]
    if any("\r" in line or "\n" in line for line in lines):
        raise SpecError("could not build requests: a header or the path holds a line break; remove it")
    try:
        return "\r\n".join(lines).encode("latin-1") + b"\r\n"
    except UnicodeEncodeError as error:
        raise SpecError(f"could not build requests: a header or the path is not Latin-1: {error}") from error
