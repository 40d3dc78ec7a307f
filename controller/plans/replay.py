"""The stage kind `replay`: its keys, and what its recording says of its length and load, read when a plan is loaded."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from controller.plans.duration import format_duration
from controller.plans.numbers import Duration, Whole
from controller.plans.plan import OpenLoop, Phase, Replay
from controller.plans.readers import WRONG, Choice, Text
from controller.plans.recording import MOST_PROBLEMS, BadRecording, profile, read_times
from controller.plans.scalars import Real
from controller.plans.tables import Fields, Key, Record
from controller.plans.timetable import MAX_IN_FLIGHT, MAX_SPAN

_ZERO = timedelta(0)
_SECOND = timedelta(seconds=1)
_RECORDED = ("is the recording's own", "remove it; speed makes all of it faster or slower")


def _check(fields: Fields) -> None:
    phase = fields.get("phase", "steady")
    if phase != "steady" and "discard" in fields.lines:
        fields.refuse("discard", f"has no meaning in the phase {phase}", "remove it: only steady is measured")


def _build(f: Fields) -> Replay:
    loop = OpenLoop("recorded", f.get("max_in_flight"))
    phase, discard = Phase(f.get("phase", "steady")), f.get("discard", _ZERO)
    return Replay(f.get("name"), f.get("speed", 1.0), loop, f.get("for"), phase, discard)


REPLAY = Record(
    {
        "name": Key(Text("a name", longest=60), "What the stage is called, unlike any other.", required=True),
        "kind": Key(Choice(("replay",)), "The requests of payloads.requests at their recorded times.", required=True),
        "loop": Key(Choice(("open",)), "open: requests leave when they are due, answered or not (open)."),
        "speed": Key(Real(0.001, 1000.0), "How many times as fast as it was recorded (1)."),
        "for": Key(Duration(_SECOND, MAX_SPAN), "Ends the replay before the recording does (the whole of it)."),
        "phase": Key(Choice(("steady", "warmup", "cooldown")), "What the stage is for; only steady is measured."),
        "discard": Key(Duration(_ZERO, MAX_SPAN), "The start of the stage, which is not measured."),
        "max_in_flight": Key(
            Whole(1, MAX_IN_FLIGHT),
            "Slots for requests under way; arrivals without one are dropped (busiest second x timeout).",
        ),
    },
    _build,
    _check,
    refused={
        "rate": _RECORDED,
        "arrivals": _RECORDED,
        "users": ("has no meaning in an open loop", "remove it"),
        "seed": ("has no meaning here: nothing is left to chance", "remove it"),
        "until": ("is not supported yet", "remove it: a replay lasts as long as its recording, or for"),
        "repeat": ("is not supported: a recording is replayed once", "write several stages"),
    },
)
"""A stage that replays recorded requests; always an open loop."""


def read_recordings(plan: Fields) -> None:
    """Give every replay of the plan what its recording says; where that cannot be, note why and leave it out."""
    stages = [one for one in plan.get("stages", ()) if isinstance(one, Fields) and isinstance(one.built, Replay)]
    if not stages:
        return
    times = _times(plan, stages)
    for stage in stages:
        stage.built = WRONG if times is None else _with(stage, stage.built, times)


def _times(plan: Fields, stages: Sequence[Fields]) -> array[float] | None:
    workload = plan.get("workload")
    pool = workload.get("payloads") if isinstance(workload, Fields) else None
    if not isinstance(workload, Fields) or (pool is None and "payloads" in workload.lines):
        return None
    if not isinstance(pool, Fields) or "requests" not in pool.lines:
        stages[0].refuse("kind", "replay has no recorded requests", "add workload.payloads.requests, a file of them")
        return None
    if workload.get("client") == "fast":
        workload.refuse("client", "fast cannot replay recorded requests", "write lean")
    if "expected" in workload.lines:
        workload.refuse("expected", "stands beside a replay, whose answers are not looked up", "remove it")
    if pool.built is WRONG:
        return None
    written = pool.get("requests")
    try:
        times, problems = read_times(plan.findings.folder / written)
    except OSError as error:
        pool.refuse("requests", f"{written} cannot be read ({error.strerror})", "check its permissions")
        return None
    _note(pool, written, problems)
    return None if problems else times


def _note(pool: Fields, written: str | Path, problems: Sequence[BadRecording]) -> None:
    for one in problems[:MOST_PROBLEMS]:
        pool.refuse("requests", f"{written}:{one.line}: {one.what}", one.remedy)
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        pool.refuse("requests", f"{written}: {more:,} more lines cannot be replayed", "correct them as well")


def _with(stage: Fields, built: Replay, times: array[float]) -> Replay | object:
    found = profile(times, built.speed, built.bound, built.discard)
    whole = f"the recording of {format_duration(timedelta(seconds=round(times[-1], 3)))} lasts"
    at_speed = f"{whole} {format_duration(found.lasts)} at speed {built.speed:g}"
    if built.bound is not None and built.bound > found.lasts:
        stage.refuse("for", f"{at_speed}, and is not repeated", f"write {format_duration(found.lasts)} or less")
        return WRONG
    if found.lasts > MAX_SPAN and built.bound is None:
        stage.refuse("speed", f"{at_speed}, and {format_duration(MAX_SPAN)} is allowed", "raise speed, or set for")
        return WRONG
    lasts = built.bound or found.lasts
    if built.phase is Phase.STEADY and lasts - built.discard < _SECOND:
        left = f"{format_duration(built.discard)} of {format_duration(lasts)} leaves less than 1s to measure"
        stage.refuse("discard", left, "lower it, or replay more")
        return WRONG
    return replace(built, recording=found)
