"""The stages of a plan: for each kind its keys, what must fit together, and the value that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

from controller.plans.duration import format_duration
from controller.plans.numbers import Duration, Whole
from controller.plans.plan import Hold, Phase, Ramp, Soak, Spike, Staircase
from controller.plans.readers import Choice, Reader, Text
from controller.plans.tables import ByKind, Fields, Key, Record

MAX_USERS = 10_000
MAX_SPAN = timedelta(hours=24)
MAX_STEPS = 200
LEAST_WINDOW = timedelta(seconds=1)

_ZERO = timedelta(0)
_SPAN = Duration(timedelta(seconds=1), MAX_SPAN)
_LOAD = Whole(0, MAX_USERS)
_SOME = Whole(1, MAX_USERS)
_LATER = {
    "loop": ("is not supported yet", "remove it: load is a number of users, each waiting for its answer"),
    "rate": ("is not supported yet", "give users: load is a number of users, each waiting for its answer"),
    "until": ("is not supported yet", "remove it: a stage lasts for its whole time"),
}
_NEVER_MEASURED = ("has no meaning here: a ramp is never measured", "remove it")
_ALL_STEADY = ("has no meaning here: the kind says what is steady", "remove it")
_SUM_OF_STEPS = (
    "has no meaning here: a staircase lasts as long as its steps",
    "remove it: users.every is for one step",
)
_NAME = Key(Text("a name", longest=60), "What the stage is called, unlike any other.", required=True)
_FOR = Key(_SPAN, "How long the stage lasts.", required=True)
_DISCARD = Key(Duration(_ZERO, MAX_SPAN), "The start of each steady slot, which is not measured.")


def _kind(word: str) -> Key:
    return Key(Choice((word,)), "The shape of the load.", required=True)


def _check_discard(fields: Fields, whole: timedelta | None, raised: str = "for") -> None:
    """What is left of a steady slot must be worth measuring."""
    discard = fields.get("discard")
    if whole is not None and discard is not None and whole - discard < LEAST_WINDOW:
        left = f"{format_duration(discard)} of {format_duration(whole)} leaves less than 1s to measure"
        fields.refuse("discard", left, f"lower it or raise {raised}")


def _check_hold(fields: Fields) -> None:
    phase = fields.get("phase", "steady")
    if phase != "steady":
        if "discard" in fields.lines:
            fields.refuse("discard", f"has no meaning in the phase {phase}", "remove it: only steady is measured")
        return
    _check_discard(fields, fields.get("for"))
    if fields.get("users") == 0:
        fields.refuse("users", "a steady slot without users measures nothing", "give users, or say phase: cooldown")


def _check_rise(users: Fields) -> None:
    start, step, end = (users.get(name) for name in ("from", "step", "to"))
    if start is None or step is None or end is None:
        return
    if end <= start:
        users.refuse("to", f"{end} is not above from ({start})", "let a staircase rise")
    elif (end - start) % step:
        below = end - (end - start) % step
        users.refuse("to", f"{end} is not reached from {start} in steps of {step}", f"write {below} or {below + step}")
    elif (end - start) // step >= MAX_STEPS:
        users.refuse("step", f"makes more than {MAX_STEPS} steps", "take larger steps")


def _check_ramp(users: Fields) -> None:
    if users.get("from") is not None and users.get("from") == users.get("to"):
        users.refuse("to", "is the same as from", "use kind: hold, or let the users change")


def _check_peak(users: Fields) -> None:
    base, peak = users.get("base"), users.get("peak")
    if base is not None and peak is not None and peak <= base:
        users.refuse("peak", f"{peak} is not above base ({base})", "let the peak be higher")


def _load(keys: Mapping[str, Reader], check: Callable[[Fields], None]) -> Key:
    """A `users` mapping; each of its keys is required."""
    parts = {name: Key(reader, _PARTS[name], required=True) for name, reader in keys.items()}
    return Key(Record(parts, lambda fields: fields.values, check), "How the users change.", required=True)


_PARTS = {
    "from": "Users at the start.",
    "step": "Users more with every step.",
    "every": "How long each step lasts.",
    "to": "Users at the end.",
    "base": "Users before and after the peak.",
    "peak": "Users at the peak.",
}
_PHASE = Key(Choice(("steady", "warmup", "cooldown")), "What the stage is for; only steady is measured.")


def _hold(f: Fields) -> Hold:
    return Hold(f.get("name"), f.get("users"), f.get("for"), Phase(f.get("phase", "steady")), f.get("discard", _ZERO))


def _ramp(f: Fields) -> Ramp:
    users = f.get("users").built
    return Ramp(f.get("name"), users["from"], users["to"], f.get("for"))


def _staircase(f: Fields) -> Staircase:
    users = f.get("users").built
    discard = f.get("discard", _ZERO)
    return Staircase(f.get("name"), users["from"], users["step"], users["to"], users["every"], discard)


def _spike(f: Fields) -> Spike:
    users = f.get("users").built
    spans = (f.get("before"), f.get("for"), f.get("after"))
    return Spike(f.get("name"), users["base"], users["peak"], *spans, f.get("discard", _ZERO))


def _check_staircase(fields: Fields) -> None:
    users = fields.get("users")
    _check_discard(fields, users.get("every") if users is not None else None, "users.every")


STAGE = ByKind(
    {
        "hold": Record(
            {"name": _NAME, "kind": _kind("hold"), "users": Key(_LOAD, "Constant users.", required=True), "for": _FOR}
            | {"phase": _PHASE, "discard": _DISCARD},
            _hold,
            _check_hold,
            _LATER,
        ),
        "soak": Record(
            {"name": _NAME, "kind": _kind("soak"), "users": Key(_SOME, "Constant users.", required=True), "for": _FOR}
            | {"discard": replace(_DISCARD, required=True)},
            lambda f: Soak(f.get("name"), f.get("users"), f.get("for"), f.get("discard")),
            lambda f: _check_discard(f, f.get("for")),
            _LATER | {"phase": _ALL_STEADY},
        ),
        "ramp": Record(
            {"name": _NAME, "kind": _kind("ramp"), "users": _load({"from": _LOAD, "to": _LOAD}, _check_ramp)}
            | {"for": _FOR},
            _ramp,
            refused=_LATER | {"phase": _NEVER_MEASURED, "discard": _NEVER_MEASURED},
        ),
        "staircase": Record(
            {"name": _NAME, "kind": _kind("staircase"), "discard": _DISCARD}
            | {"users": _load({"from": _SOME, "step": _SOME, "every": _SPAN, "to": _SOME}, _check_rise)},
            _staircase,
            _check_staircase,
            _LATER | {"for": _SUM_OF_STEPS, "phase": _ALL_STEADY},
        ),
        "spike": Record(
            {"name": _NAME, "kind": _kind("spike"), "users": _load({"base": _LOAD, "peak": _SOME}, _check_peak)}
            | {"before": Key(_SPAN, "How long base users load before the peak.", required=True), "for": _FOR}
            | {"after": Key(_SPAN, "How long base users load after the peak.", required=True), "discard": _DISCARD},
            _spike,
            lambda f: _check_discard(f, f.get("for")),
            _LATER | {"phase": _ALL_STEADY},
        ),
    },
    later=("capacity", "event"),
)
"""One stage of a plan, of any kind."""
