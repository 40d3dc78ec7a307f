"""How close is this process to its own limits? The pulse of the process that sends, in greenlets of its loop."""

from __future__ import annotations

from collections.abc import Mapping

import gevent

from exporters.loadgen_pulse import Pulse, Vitals

__all__ = ["Pulse", "Vitals", "begin"]


def begin(limits: Mapping[str, float]) -> Pulse:
    """Measure this process from now on; in the thread of its loop, after it was forked."""
    pulse = Pulse(limits)
    gevent.spawn(pulse.probe, gevent.sleep)
    return pulse
