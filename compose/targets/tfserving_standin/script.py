"""The script of a known-answer run: what the stand-in does when, counted from the script's start. YAML or options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from .codes import Code
from .distributions import Constant, Latency
from .durations import Rate, Seconds


class ScriptError(Exception):
    """A script that cannot be used; the message lists every problem, one a line."""


class Part(BaseModel):
    """One part of a script: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Phase(Part):
    """Other latencies from a moment on, for a while; the last phase that covers a moment counts."""

    start: Annotated[Seconds, Field(alias="from")]
    duration: Annotated[Seconds, Field(alias="for")]
    latency: Latency


class Capacity(Part):
    """How much is served at once or per second; more waits in a queue (its length in requests, none = endless)."""

    concurrency: Annotated[int, Field(ge=1)] | None = None
    rate: Rate | None = None
    queue: Annotated[int, Field(ge=0)] | None = None


class Freeze(Part):
    """No answer leaves from a moment on, for a while; what was due goes out at the end."""

    at: Seconds
    duration: Annotated[Seconds, Field(alias="for")]


def _code(value: object) -> Code:
    if isinstance(value, str) and value in Code.__members__ and value != "OK":
        return Code[value]
    raise ValueError(f"{value!r} is not the name of an error code like UNAVAILABLE")


class ErrorBurst(Part):
    """A share of the inference requests fails at once (or `after` a while) with a canonical code.

    With `drop` it gets no answer at all: the connection is closed (gRPC cannot do that for one call and fails it).
    """

    code: Annotated[Code, BeforeValidator(_code)] = Code.UNAVAILABLE
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    start: Annotated[Seconds, Field(alias="from")] = 0.0
    duration: Annotated[Seconds, Field(alias="for")] = float("inf")
    after: Seconds = 0.0
    drop: bool = False


class Loading(Part):
    """What loading a version costs: how long it takes and how much slower requests are meanwhile."""

    takes: Seconds = 0.0
    extra: Seconds = 0.0
    slowdown: Annotated[float, Field(ge=1)] = 1.0


class Load(Loading):
    """A new version at a moment. Once it is available the older ones are unloaded, unless `retire` is false."""

    version: Annotated[int, Field(ge=0)]
    at: Seconds
    retire: bool = True
    fails: str | None = None


class Script(Part):
    """Everything a known-answer run does. An empty script means: answer as fast as you can."""

    version: Literal[1] = 1
    seed: int = 1
    latency: Latency = Constant(value=0.0)
    phases: tuple[Phase, ...] = ()
    capacity: Capacity = Capacity()
    freezes: tuple[Freeze, ...] = ()
    errors: tuple[ErrorBurst, ...] = ()
    loads: tuple[Load, ...] = ()
    loading: Loading = Loading()


def parse_script(content: object) -> Script:
    """A script from parsed YAML. Raises ScriptError with all problems."""
    try:
        return Script.model_validate({} if content is None else content)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, problem['loc'])) or 'script'}: {problem['msg']}" for problem in error.errors()]
        raise ScriptError("\n".join(lines)) from error


def parse_script_text(text: str) -> Script:
    """A script from YAML (or JSON) text. Raises ScriptError."""
    return parse_script(_content(text))


def read_script(path: Path | None, options: Mapping[str, Any]) -> Script:
    """The script file with options laid over it: single values replace, lists grow. Raises ScriptError."""
    content: object = None
    if path is not None:
        try:
            content = _content(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ScriptError(f"could not read the script {path}: {error}") from error
    if content is not None and not isinstance(content, dict):
        raise ScriptError(f"{path}: a script is a mapping, not {type(content).__name__}")
    merged: dict[str, Any] = dict(content or {})
    for key, value in options.items():
        if isinstance(value, list):
            present = merged.get(key)
            merged[key] = [*(present if isinstance(present, list) else []), *value]
        else:
            merged[key] = value
    return parse_script(merged)


def parse_option(text: str) -> dict[str, Any]:
    """`lognormal:median=5ms,sigma=0.5` or `at=10s,for=2s` as a mapping; a bare `constant:5ms` sets its value."""
    kind, colon, rest = text.partition(":")
    found: dict[str, Any] = {"kind": kind} if colon else {}
    for item in (rest if colon else text).split(","):
        key, equals, value = item.partition("=")
        if not equals:
            key, value = "value", item
        found[key.strip()] = _several(value.strip())
    return found


def _several(value: str) -> str | Sequence[str]:
    return value.split("|") if "|" in value else value


def _content(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ScriptError(f"the script is not YAML: {error}") from error
