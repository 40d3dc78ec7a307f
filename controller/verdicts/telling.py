"""Disturbances and cuts in words, the same in record, report and on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from controller.figures.disturbance import Disturbance
from controller.figures.window import Window
from controller.figures.wording import digits, latency, span
from exporters.loadgen_limits import LIMITS

MOST_TOLD = 3
"""Workers of one signal that a sentence names; the rest is counted."""


def told(found: Sequence[Disturbance]) -> str:
    """`cpu of worker-1 from 14:02:10 to 14:02:18 UTC (8.0 s, 13 % of the window, at most 1.3 times its limit of 95 %)`;
    several of one worker in one, and the worst workers first."""
    groups: dict[tuple[str, str], list[Disturbance]] = {}
    for one in found:
        groups.setdefault((one.signal, one.worker), []).append(one)
    order = sorted(groups.values(), key=lambda group: -sum(one.seconds for one in group))
    more = f", and {len(order) - MOST_TOLD} more" if len(order) > MOST_TOLD else ""
    return ", ".join(_group(group) for group in order[:MOST_TOLD]) + more


def remarks(window: Window) -> tuple[str, ...]:
    """What a reader of the window's figures must know, though they can be believed; nothing if all was calm."""
    found = [] if window.cut is None else [f"{window.name}: {cut_text(window)}"]
    left = [one for one in window.disturbances if not _inside_cut(window, one)]
    if left and not window.health.saturated:
        found.append(f"{window.name}: at a limit, but for too short a time to matter: {told(left)}")
    return tuple(found)


def cut_text(window: Window) -> str:
    """`measured over 52 of 60 s; cut 14:02:10 to 14:02:18 UTC: cpu of worker-1`; empty without a cut."""
    cut = window.cut
    if cut is None:
        return ""
    measured = span(window.seconds).removesuffix(" s")
    return f"measured over {measured} of {span(window.lasted)}; cut {between(cut.start, cut.end)}: {cut.because}"


def between(start: datetime, end: datetime) -> str:
    """`14:02:10 to 14:02:18 UTC`."""
    return f"{start:%H:%M:%S} to {end:%H:%M:%S} UTC"


def limit_text(signal: str, limit: float) -> str:
    """A signal's limit in its unit: `20.0 ms`, `95.0 %`."""
    known = LIMITS.get(signal)
    return latency(limit) if known is not None and known.unit == "seconds" else f"{digits(limit * 100)} %"


def _group(group: Sequence[Disturbance]) -> str:
    """All disturbances by one signal of one worker."""
    first = group[0]
    start, end = min(one.start for one in group), max(one.end for one in group)
    seconds, share = sum(one.seconds for one in group), sum(one.share for one in group)
    limit = "" if first.limit is None else f" of {limit_text(first.signal, first.limit)}"
    worst = f"at most {digits(max(one.worst for one in group))} times its limit{limit}"
    times = f", {len(group)} times" if len(group) > 1 else ""
    how = f"{span(seconds)}, {share * 100:.0f} % of the window, {worst}"
    return f"{first.signal} of {first.worker}{times} from {between(start, end)} ({how})"


def _inside_cut(window: Window, one: Disturbance) -> bool:
    return window.cut is not None and one.start >= window.cut.start and one.end <= window.cut.end
