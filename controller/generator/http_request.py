"""The bytes of whole HTTP requests, built once before load: request line, headers and body of every payload."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from controller.generator_spec import GeneratorSpec
from controller.plans.header_text import resolve_headers
from controller.plans.model_inputs import ModelInput
from controller.plans.payloads import Body, request_bodies
from controller.plans.plan import Target, Workload
from controller.plans.recorded import read_requests
from controller.plans.workload import BODILESS

DEFAULT_FIELDS = {"row": ("predictions",), "column": ("outputs",)}
"""What TF Serving's answer to each form carries."""

OURS = ("content-length", "transfer-encoding", "connection", "expect")


class SpecError(ValueError):
    """The generator cannot do what its specification asks; the message says what and why."""


@dataclass(frozen=True, slots=True)
class FastRequest:
    """A request in the parts that the client of FastHttpUser wants."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: host as in the URL and port, or the path of a Unix socket."""

    host: str
    port: int
    socket: str | None = None
    secure: bool = False

    @property
    def authority(self) -> str:
        """What the header Host says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def address(target: Target) -> Address:
    """Where the target's REST interface is. Raises `SpecError`."""
    url = urlsplit(target.rest or "")
    if url.scheme == "unix":
        return Address("localhost", 80, socket=url.path)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise SpecError(f"could not use the target {target.rest}: it has to begin with http://, https:// or unix://")
    secure = url.scheme == "https"
    return Address(url.hostname, url.port or (443 if secure else 80), secure=secure)


def base_url(target: Target) -> str:
    """What paths are added to, as a URL that any client takes; over a Unix socket its host means nothing."""
    return "http://localhost" if (target.rest or "").startswith("unix:") else target.rest or ""


def path(target: Target, workload: Workload) -> str:
    """The path that requests are sent to. Raises `SpecError`."""
    prefix = _prefix(target)
    match target.kind:
        case "tfserving":
            if target.model is None:
                raise SpecError(f"could not address a model at {target.rest}: the target names none")
            return f"{prefix}/v1/models/{quote(target.model, safe='')}{_which(target)}:predict"
        case "http":
            own = workload.path or "/"
            return prefix + (own if own.startswith("/") else f"/{own}")


def _prefix(target: Target) -> str:
    url = target.rest or ""
    return "" if url.startswith("unix:") else urlsplit(url).path.rstrip("/")


def _which(target: Target) -> str:
    if target.version is not None:
        return f"/versions/{target.version}"
    return "" if target.label is None else f"/labels/{quote(target.label, safe='')}"


def requests(spec: GeneratorSpec, part: int, inputs: Sequence[ModelInput] = ()) -> list[bytes]:
    """All requests of worker `part`, in sending order; `inputs` are the model's, where payloads are made from them.

    Raises `SpecError` and `PayloadError`.
    """
    where = address(spec.target)
    return [_raw(where, *request) for request in _parts(spec, part, inputs)]


def fast_requests(spec: GeneratorSpec, part: int, inputs: Sequence[ModelInput] = ()) -> list[FastRequest]:
    """The same for the client of FastHttpUser."""
    where = address(spec.target)
    base = f"{'https' if where.secure else 'http'}://{where.authority}"
    return [
        FastRequest(method, base + target, tuple(fields), body)
        for method, target, fields, body in _parts(spec, part, inputs)
    ]


def recorded_requests(spec: GeneratorSpec) -> Iterator[tuple[float | None, bytes]]:
    """All recorded requests of the workload with their times, in recorded order. Raises `SpecError`."""
    target, workload = spec.target, spec.workload
    file, where, own = workload.payloads.requests, address(target), path(target, workload)
    if file is None:
        raise SpecError("could not replay recorded requests: the workload names none")
    headers = _headers(workload)
    try:
        for one in read_requests(file):
            yield one.at, _raw(where, *_one(target, own, workload.method, headers, Body(one.body, one)))
    except (OSError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(f"could not read recorded requests from {file}: {error}") from error


def required_fields(target: Target, workload: Workload) -> tuple[str, ...]:
    """Top-level names that an answer must carry to be valid."""
    if workload.required_fields or target.kind != "tfserving":
        return workload.required_fields
    return DEFAULT_FIELDS[workload.form]


Parts = tuple[str, str, list[tuple[str, str]], bytes]
"""Method, path, headers, body."""


def _parts(spec: GeneratorSpec, part: int, inputs: Sequence[ModelInput]) -> Iterator[Parts]:
    target, workload = spec.target, spec.workload
    headers, own = _headers(workload), path(target, workload)
    for body in request_bodies(workload, target.kind, part=part, parts=spec.workers, inputs=inputs):
        yield _one(target, own, workload.method, headers, body)


def _headers(workload: Workload) -> tuple[tuple[str, str], ...]:
    try:
        return resolve_headers(workload.headers, os.environ)
    except ValueError as error:
        raise SpecError(f"could not build requests: {error}") from error


def _one(target: Target, own: str, method: str, headers: Iterable[tuple[str, str]], body: Body) -> Parts:
    fields: dict[str, tuple[str, str]] = {}
    recorded = body.recorded
    if body.content:
        fields["content-type"] = ("Content-Type", "application/json")
    for name, value in (*headers, *(recorded.headers if recorded else ())):
        if name.lower() in OURS and recorded is None:
            raise SpecError(f"could not send the header {name}: the generator sets it itself; remove it")
        if name.lower() not in (*OURS, "host"):
            fields[name.lower()] = (name, value)
    if recorded is None:
        return method, own, list(fields.values()), body.content
    prefix = _prefix(target)
    return recorded.method, prefix + recorded.path, list(fields.values()), body.content


def _raw(where: Address, method: str, target_path: str, fields: Iterable[tuple[str, str]], body: bytes) -> bytes:
    lines = [f"{method} {target_path} HTTP/1.1", f"Host: {where.authority}"]
    lines += [f"{name}: {value}" for name, value in fields]
    if body or method not in BODILESS:
        lines.append(f"Content-Length: {len(body)}")
    if any("\r" in line or "\n" in line for line in lines):
        raise SpecError("could not build requests: a header or the path holds a line break; remove it")
    try:
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
    except UnicodeEncodeError as error:
        raise SpecError(f"could not build requests: a header or the path is not Latin-1: {error}") from error
