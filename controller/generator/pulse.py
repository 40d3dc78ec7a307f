"""How close is this process to its own limits? The pulse of the process that sends, in greenlets of its loop."""

from __future__ import annotations

from collections.abc import Mapping

import gevent

from exporters.loadgen_pulse import Pulse, Vitals

__all__ = ["Pulse", "Vitals", "begin", "master_limits"]

MASTER_PATIENCE = 5
"""The master sends nothing: what its loop does late by a tenth of a second is still told in the same second."""


def begin(limits: Mapping[str, float]) -> Pulse:
    """Measure this process from now on; in the thread of its loop, after it was forked."""
    pulse = Pulse(limits)
    gevent.spawn(pulse.probe, gevent.sleep)
    return pulse


def master_limits(limits: Mapping[str, float]) -> dict[str, float]:
    """The same for the process that only divides the load and adds up what became of it."""
    return {**limits, "loop_lag": MASTER_PATIENCE * limits["loop_lag"]}
