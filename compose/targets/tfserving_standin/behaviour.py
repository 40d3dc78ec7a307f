"""Applies the script to the clock: which latency now, whether to fail, until when an answer is held."""

from __future__ import annotations

from random import Random

from .script import ErrorBurst, Loading, Script


class Behaviour:
    """The script from its start on. All moments are seconds of one monotonic clock, given by the caller."""

    def __init__(self, script: Script, now: float) -> None:
        """Start a script at `now`."""
        self.replace(script, now)

    def replace(self, script: Script, now: float) -> None:
        """Start another script; what the old one caused (slow loads, freezes) is over."""
        self.script = script
        self.started = now
        self._random = Random(script.seed)  # noqa: S311 - repeatable draws are wanted, not secrets
        self._draws = 0
        self._spikes: list[tuple[float, Loading]] = []
        self._freezes = sorted((now + freeze.at, now + freeze.at + freeze.duration) for freeze in script.freezes)

    def refusal(self, now: float) -> ErrorBurst | None:
        """The error burst that takes the request arriving now, if one does."""
        for burst in self.script.errors:
            since = now - self.started - burst.start
            if 0 <= since < burst.duration and self._random.random() < burst.share:
                return burst
        return None

    def latency(self, now: float) -> float:
        """The service time in seconds of what begins now, drawn anew at every call."""
        elapsed = now - self.started
        shape = self.script.latency
        for phase in self.script.phases:
            if phase.start <= elapsed < phase.start + phase.duration:
                shape = phase.latency
        drawn = shape.draw(self._random, self._draws)
        self._draws += 1
        for until, loading in self._spikes:
            if now < until:
                drawn = drawn * loading.slowdown + loading.extra
        return drawn

    def slow_until(self, until: float, loading: Loading, now: float) -> None:
        """A version loads until then, and what begins meanwhile is slower."""
        self._spikes = [*(spike for spike in self._spikes if spike[0] > now), (until, loading)]

    def released(self, due: float) -> float:
        """When an answer due at `due` may leave: then, or at the end of the freezes that hold it."""
        for start, end in self._freezes:
            if start <= due < end:
                due = end
        return due
