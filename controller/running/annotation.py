"""A slot of a run as a region in Grafana: its text, and tags that find it again.

Grafana splits a tag at its colons and keeps two parts, stores each part in 100 characters, and refuses more than 500
bytes of tags on one annotation; so tags are made here, from a small fixed vocabulary plus the run's id.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from controller.plans.summary import load_text
from controller.plans.timetable import Slot
from controller.ports import Region
from controller.running.watching import JOINED, UNSCRAPED, Mark

MARKERS = ("stagelight", "run-phase")
"""On every region; `run-phase` is what dashboards ask for."""

DISTURBANCE = "disturbance"
"""Marks regions of the generator's own troubles instead of `run-phase`."""

MARKS_FROM = 100_000
"""Numbers of such regions begin here: no timetable has so many slots."""

END_UNKNOWN = "phase_end:unknown"
"""On regions whose true end nobody saw, because the controller was lost."""

_LEAST = timedelta(milliseconds=1)

TAG_CHARACTERS = 100
TAGS_BYTES = 500
"""Grafana's default limit for all tags of an annotation together, counted as their JSON list."""


def region(run_id: str, plan: str, slot: Slot, start: datetime, end: datetime, *, closed: bool = False) -> Region:
    """The region of a slot. `start` is when it took effect, `end` its bounded end: planned, last seen or true.

    An end before the start (a clock that was set back) becomes a millisecond after it: Grafana would silently swap the
    two, and draws no region between equal times.
    """
    tags = clean_tags(
        (*MARKERS, *identity_tags(run_id, slot.seq), f"phase:{slot.phase}", f"plan:{plan.replace(':', '-')}"),
        TAGS_BYTES - len(END_UNKNOWN) - 3,
    )
    last = max(end, start + _LEAST)
    return Region(run_id, slot.seq, start, last, _text(run_id, plan, slot), tags, closed)


def trouble(run_id: str, plan: str, mark: Mark, end: float) -> Region:
    """The region of something that disturbs the generator; `end` (epoch seconds) is its bounded or true end."""
    seq = MARKS_FROM + mark.number
    own = (f"signal:{mark.signal}", f"worker:{mark.worker.replace(':', '-')}", f"plan:{plan.replace(':', '-')}")
    tags = clean_tags((MARKERS[0], DISTURBANCE, *identity_tags(run_id, seq), *own), TAGS_BYTES - len(END_UNKNOWN) - 3)
    start, last = (datetime.fromtimestamp(at, UTC) for at in (mark.start, end))
    return Region(
        run_id, seq, start, max(last, start + _LEAST), _trouble_text(run_id, mark), tags, mark.closed, DISTURBANCE
    )


def _trouble_text(run_id: str, mark: Mark) -> str:
    signal, worker, run = (html.escape(part) for part in (mark.signal, mark.worker, run_id))
    if mark.signal == JOINED:
        return f"<b>{worker}</b> joined in mid-run: the load was divided anew<br>run {run}"
    if mark.signal == UNSCRAPED:
        return f"<b>Prometheus</b> did not scrape the generator: its series have a hole here<br>run {run}"
    limit = f"{mark.worst:.2g} times its limit"
    return f"<b>generator</b>: {signal} of {worker} at {limit}<br>what is measured now is its own as well<br>run {run}"


def end_unknown(lost: Region, last_seen: datetime | None = None) -> Region:
    """The closed form of a region that a lost controller left open, tagged as such.

    Its end is `last_seen`, the controller's last sign of life, else the bounded end that it was given.
    """
    if END_UNKNOWN in lost.tags:
        return replace(lost, closed=True)
    end = max(min(lost.end, last_seen or lost.end), lost.start + _LEAST)
    text = f"{lost.text}<br>end unknown: the controller was lost"
    return replace(lost, closed=True, end=end, text=text, tags=clean_tags((*lost.tags, END_UNKNOWN)))


def identity_tags(run_id: str, seq: int) -> tuple[str, str]:
    """The two tags that, with `run-phase`, belong to exactly one region."""
    return clean_tag(f"run_id:{run_id.replace(':', '-')}"), f"seq:{seq}"


def clean_tags(tags: Iterable[str], most_bytes: int = TAGS_BYTES) -> tuple[str, ...]:
    """Tags without duplicates, each in Grafana's limits, and together in `most_bytes`: the last ones are shortened."""
    kept: list[str] = []
    room = most_bytes - 2
    for tag in tags:
        clean = clean_tag(tag, min(room - 3, TAG_CHARACTERS * 4))
        if clean and clean not in kept:
            kept.append(clean)
            room -= len(clean.encode()) + 3
    return tuple(kept)


def clean_tag(tag: str, most_bytes: int = TAG_CHARACTERS * 4) -> str:
    """At most one colon, no commas, blanks or control characters, at most 100 characters and `most_bytes` bytes.

    A shortened tag ends in eight characters of its SHA-256, so that two long names stay two.
    """
    key, colon, value = tag.partition(":")
    clean = "".join(_allowed(char) for char in key) + colon + "".join(_allowed(char) for char in value)
    if len(clean) <= TAG_CHARACTERS and len(clean.encode()) <= most_bytes:
        return clean
    mark = "~" + hashlib.sha256(clean.encode()).hexdigest()[:8]
    if most_bytes <= len(mark):
        return ""
    head = clean[: TAG_CHARACTERS - len(mark)].encode()[: most_bytes - len(mark)]
    return head.decode(errors="ignore") + mark


def _allowed(char: str) -> str:
    return "-" if char in ':,"\\' or char.isspace() or not char.isprintable() else char


def _text(run_id: str, plan: str, slot: Slot) -> str:
    load = load_text(slot) if slot.arrivals is not None else f"{load_text(slot)} users"
    stage, name, run = (html.escape(part) for part in (slot.stage, plan, run_id))
    return f"<b>{stage}</b>: {slot.phase}, {load}<br>plan {name}, run {run}"
