"""The stages of a plan: for each kind its keys, what must fit together, and the value that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from controller.plans.axis import CLOSED, OPEN, Axis
from controller.plans.duration import format_duration
from controller.plans.numbers import Duration
from controller.plans.plan import Hold, Phase, Ramp, Soak, Spike, Staircase
from controller.plans.problems import Findings
from controller.plans.readers import WRONG, Choice, Json, Reader, Text
from controller.plans.replay import REPLAY
from controller.plans.tables import ByKind, Fields, Key, Record
from controller.plans.timetable import MAX_SPAN
from controller.plans.yaml_source import Entry, Node, Scalar, Table

MAX_STEPS = 200
LEAST_WINDOW = timedelta(seconds=1)

_ZERO = timedelta(0)
_SPAN = Duration(timedelta(seconds=1), MAX_SPAN)
_LATER = {"until": ("is not supported yet", "remove it: a stage lasts for its whole time")}
_NEVER_MEASURED = ("has no meaning here: a ramp is never measured", "remove it")
_ALL_STEADY = ("has no meaning here: the kind says what is steady", "remove it")
_NAME = Key(Text("a name", longest=60), "What the stage is called, unlike any other.", required=True)
_FOR = Key(_SPAN, "How long the stage lasts.", required=True)
_DISCARD = Key(Duration(_ZERO, MAX_SPAN), "The start of each steady slot, which is not measured.")
_PHASE = Key(Choice(("steady", "warmup", "cooldown")), "What the stage is for; only steady is measured.")


def _kind(word: str) -> Key:
    return Key(Choice((word,)), "The shape of the load.", required=True)


def _check_discard(fields: Fields, whole: timedelta | None, raised: str = "for") -> None:
    """What is left of a steady slot must be worth measuring."""
    discard = fields.get("discard")
    if whole is not None and discard is not None and whole - discard < LEAST_WINDOW:
        left = f"{format_duration(discard)} of {format_duration(whole)} leaves less than 1s to measure"
        fields.refuse("discard", left, f"lower it or raise {raised}")


def _load(axis: Axis, keys: Mapping[str, Reader], check: Callable[[Axis, Fields], None]) -> Key:
    """The mapping of a load that changes; each of its keys is required."""
    parts = {name: Key(reader, _part(axis, name), required=True) for name, reader in keys.items()}
    record = Record(parts, lambda fields: fields.values, lambda fields: check(axis, fields))
    return Key(
        record, f"How the {axis.key if axis is OPEN else axis.noun} change{'s' * (axis is OPEN)}.", required=True
    )


def _part(axis: Axis, name: str) -> str:
    noun = "Users" if axis is CLOSED else "Arrivals a second"
    return {
        "from": f"{noun} at the start.",
        "step": f"{noun} more with every step.",
        "every": "How long each step lasts.",
        "to": f"{noun} at the end.",
        "base": f"{noun} before and after the peak.",
        "peak": f"{noun} at the peak.",
    }[name]


def _check_rise(axis: Axis, fields: Fields) -> None:
    found = [fields.get(name) for name in ("from", "step", "to")]
    if None in found:
        return
    start, step, end = (axis.whole(value) for value in found)
    shown = [axis.show(axis.value(units)) for units in (start, step, end)]
    if end <= start:
        fields.refuse("to", f"{shown[2]} is not above from ({shown[0]})", "let a staircase rise")
    elif (end - start) % step:
        below = end - (end - start) % step
        near = f"{axis.show(axis.value(below))} or {axis.show(axis.value(below + step))}"
        fields.refuse("to", f"{shown[2]} is not reached from {shown[0]} in steps of {shown[1]}", f"write {near}")
    elif (end - start) // step >= MAX_STEPS:
        fields.refuse("step", f"makes more than {MAX_STEPS} steps", "take larger steps")


def _check_change(axis: Axis, fields: Fields) -> None:
    if fields.get("from") is not None and fields.get("from") == fields.get("to"):
        fields.refuse("to", "is the same as from", f"use kind: hold, or let the {axis.key} change")


def _check_peak(axis: Axis, fields: Fields) -> None:
    base, peak = fields.get("base"), fields.get("peak")
    if base is not None and peak is not None and peak <= base:
        fields.refuse("peak", f"{axis.show(peak)} is not above base ({axis.show(base)})", "let the peak be higher")


def _check_hold(axis: Axis, fields: Fields) -> None:
    phase = fields.get("phase", "steady")
    if phase != "steady":
        if "discard" in fields.lines:
            fields.refuse("discard", f"has no meaning in the phase {phase}", "remove it: only steady is measured")
        return
    _check_discard(fields, fields.get("for"))
    if fields.get(axis.key) == 0:
        nothing = f"a steady slot without {axis.noun} measures nothing"
        fields.refuse(axis.key, nothing, f"{axis.give}, or say phase: cooldown")


def _check_staircase(axis: Axis, fields: Fields) -> None:
    load = fields.get(axis.key)
    every = load.get("every") if load is not None else None
    _check_discard(fields, every, f"{axis.key}.every")


def _hold(axis: Axis, f: Fields) -> Hold:
    phase, discard = Phase(f.get("phase", "steady")), f.get("discard", _ZERO)
    return Hold(f.get("name"), f.get(axis.key), f.get("for"), phase, discard, axis.open_loop(f))


def _soak(axis: Axis, f: Fields) -> Soak:
    return Soak(f.get("name"), f.get(axis.key), f.get("for"), f.get("discard"), axis.open_loop(f))


def _ramp(axis: Axis, f: Fields) -> Ramp:
    load = f.get(axis.key).built
    return Ramp(f.get("name"), load["from"], load["to"], f.get("for"), axis.open_loop(f))


def _staircase(axis: Axis, f: Fields) -> Staircase:
    load, discard = f.get(axis.key).built, f.get("discard", _ZERO)
    return Staircase(f.get("name"), load["from"], load["step"], load["to"], load["every"], discard, axis.open_loop(f))


def _spike(axis: Axis, f: Fields) -> Spike:
    load, discard = f.get(axis.key).built, f.get("discard", _ZERO)
    spans = (f.get("before"), f.get("for"), f.get("after"))
    return Spike(f.get("name"), load["base"], load["peak"], *spans, discard, axis.open_loop(f))


def _kinds(axis: Axis) -> ByKind:
    """One record a kind, with the keys of the axis."""

    def record(
        kind: str,
        keys: dict[str, Key],
        build: Callable[[Axis, Fields], Any],
        check: Callable[[Axis, Fields], None] = lambda _axis, _fields: None,
        refused: Mapping[str, tuple[str, str]] = {},
    ) -> Record:
        every = {"name": _NAME, "kind": _kind(kind), **keys, **axis.keys}
        return Record(every, lambda f: build(axis, f), lambda f: check(axis, f), {**_LATER, **axis.refused, **refused})

    def constant(reader: Reader) -> dict[str, Key]:
        return {axis.key: Key(reader, "Constant users." if axis is CLOSED else "Constant rate.", required=True)}

    def check_peak(_axis: Axis, f: Fields) -> None:
        _check_discard(f, f.get("for"))

    rise = _load(axis, {"from": axis.some, "step": axis.some, "every": _SPAN, "to": axis.some}, _check_rise)
    around = {
        "before": Key(_SPAN, f"How long base {axis.noun} load before the peak.", required=True),
        "for": _FOR,
        "after": Key(_SPAN, f"How long base {axis.noun} load after the peak.", required=True),
    }
    steps = {"for": (_SUM_OF_STEPS, f"remove it: {axis.key}.every is for one step"), "phase": _ALL_STEADY}
    never = {"phase": _NEVER_MEASURED, "discard": _NEVER_MEASURED}
    change, peak = {"from": axis.any, "to": axis.any}, {"base": axis.any, "peak": axis.some}
    holding = {**constant(axis.any), "for": _FOR, "phase": _PHASE, "discard": _DISCARD}
    soaking = {**constant(axis.some), "for": _FOR, "discard": replace(_DISCARD, required=True)}
    return ByKind(
        {
            "hold": record("hold", holding, _hold, _check_hold),
            "soak": record("soak", soaking, _soak, check_peak, {"phase": _ALL_STEADY}),
            "ramp": record("ramp", {axis.key: _load(axis, change, _check_change), "for": _FOR}, _ramp, refused=never),
            "staircase": record(
                "staircase", {"discard": _DISCARD, axis.key: rise}, _staircase, _check_staircase, steps
            ),
            "spike": record(
                "spike",
                {axis.key: _load(axis, peak, _check_peak), **around, "discard": _DISCARD},
                _spike,
                check_peak,
                {"phase": _ALL_STEADY},
            ),
        },
        later=("capacity", "event"),
    )


_SUM_OF_STEPS = "has no meaning here: a staircase lasts as long as its steps"


@dataclass(frozen=True, slots=True)
class ByLoop:
    """A stage whose `loop` says on which axis its load is; a replay has an axis of its own."""

    closed: ByKind
    open: ByKind
    replay: Record

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """What the kinds of that loop read."""
        if isinstance(node, Table) and any(_says_replay(entry) for entry in node.entries):
            return self.replay.read(node, key, findings)
        if isinstance(node, Table) and (entry := next((e for e in node.entries if e.key == "loop"), None)):
            word = Choice(("closed", "open")).read(entry.value, f"{key}.loop", findings)
            if word is WRONG:
                return WRONG
            return (self.open if word == "open" else self.closed).read(node, key, findings)
        return self.closed.read(node, key, findings)

    def schema(self) -> Json:
        """One object for each kind in each loop."""
        return {"oneOf": [*self.closed.schema()["oneOf"], *self.open.schema()["oneOf"], self.replay.schema()]}


def _says_replay(entry: Entry) -> bool:
    return entry.key == "kind" and isinstance(entry.value, Scalar) and entry.value.text == "replay"


STAGE = ByLoop(_kinds(CLOSED), _kinds(OPEN), REPLAY)
"""One stage of a plan, of any kind, in either loop."""
