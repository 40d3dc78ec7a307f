"""When were the requests of a recording sent? Times read and checked line by line, and what they make at some speed."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from pathlib import Path

from controller.plans.json_lines import BadLine, json_lines
from controller.plans.recorded import request_problem
from controller.plans.recording_profile import Profile

MOST_REQUESTS = 500_000
"""Of a recording: each takes 16 bytes in every worker, and has to be encoded while the master waits for its workers."""

MOST_PROBLEMS = 5
"""Lines that are named; of the others only the number is."""

TAIL_SECONDS = 0.1
"""A replay lasts at least so much longer than its last request is due, so that the stage's end cannot cut it off."""

FORM = 'write each line as {"at": seconds, "method": …, "path": …, "headers": …, "body": …}'


@dataclass(frozen=True, slots=True)
class BadRecording:
    """One line that cannot be replayed."""

    line: int
    what: str
    remedy: str


def read_times(path: Path) -> tuple[array[float], list[BadRecording]]:
    """Seconds of every request since the first, rising, and every line that is wrong. Raises `OSError`."""
    times, problems = array("d"), list[BadRecording]()
    first, before = None, (0.0, 0)
    for number, _, value in json_lines(path):
        if (bad := _problem(value, before)) is not None:
            problems.append(BadRecording(number, *bad))
            continue
        at = float(value["at"])
        first, before = at if first is None else first, (at, number)
        times.append(at - first)
        if len(times) > MOST_REQUESTS:
            found = f"more than {MOST_REQUESTS:,} requests to here"
            return times, [*problems, BadRecording(number, found, "cut the file into several, for a plan each")]
    if not times and not problems:
        problems.append(BadRecording(1, "no request", FORM))
    return times, problems


def _problem(value: object, before: tuple[float, int]) -> tuple[str, str] | None:
    """What is wrong with a line, given the time and the number of the good one before it."""
    if isinstance(value, BadLine):
        return value.what, value.remedy
    if (found := request_problem(value)) is not None:
        return f"holds {found}", FORM
    at = value.get("at") if isinstance(value, dict) else None
    if at is None:
        return "holds no `at`: when it was sent is not known", "add the second at which each request was sent"
    if before[1] and at < before[0]:
        return f"holds `at` {at:g}, before the {before[0]:g} of line {before[1]}", "sort the lines by `at`"
    return None


def profile(times: array[float], speed: float, bound: timedelta | None, discard: timedelta) -> Profile:
    """What a recording with these times is at a speed; `bound` ends it, `discard` at its start is not measured."""
    second = timedelta(seconds=1)
    lasts = timedelta(seconds=max(ceil(times[-1] / speed + TAIL_SECONDS), 1))
    end, start = (bound or lasts) / second, discard / second
    count = bisect_left(times, end * speed)
    measured = max(count - bisect_left(times, start * speed), 0)
    peak, burst = (_most_within(times, count, seconds * speed) for seconds in (1.0, 0.1))
    return Profile(count, lasts, measured / max(end - start, 1e-9), peak, burst)


def _most_within(times: Sequence[float], count: int, seconds: float) -> int:
    """Most of the first `count` times in any half-open span."""
    most = first = 0
    for last in range(count):
        while times[last] - times[first] >= seconds:
            first += 1
        most = max(most, last - first + 1)
    return most
