"""How close is this process to its own limits? The pulse of the process that sends, by a timer of its loop."""

from __future__ import annotations

from collections.abc import Mapping

from gevent import get_hub

from exporters.loadgen_pulse import LAG_PERIOD, Pulse, Vitals

__all__ = ["Pulse", "Vitals", "begin"]


def begin(limits: Mapping[str, float]) -> Pulse:
    """Measure this process from now on; in the thread of its loop, after it was forked."""
    pulse = Pulse(limits)
    pulse.probe(get_hub().loop.timer(LAG_PERIOD, repeat=LAG_PERIOD))
    return pulse
