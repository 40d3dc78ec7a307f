"""How a plan moves the limits at which its generator counts as saturated."""

from __future__ import annotations

from datetime import timedelta

from controller.plans.numbers import Duration
from controller.plans.scalars import Real
from controller.plans.tables import Fields, Key, Record
from exporters.loadgen_limits import LIMITS, Limit

Limits = tuple[tuple[str, float], ...]
"""Signal and limit, in the signal's unit."""


def _reader(limit: Limit) -> Duration | Real:
    if limit.unit == "seconds":
        return Duration(timedelta(seconds=limit.least), timedelta(seconds=limit.most))
    return Real(limit.least, limit.most)


def _doc(limit: Limit) -> str:
    value = f"{limit.value * 1000:g}ms" if limit.unit == "seconds" else f"{limit.value:g}"
    return f"{limit.measures[0].upper()}{limit.measures[1:]} ({value})."


def _limits(fields: Fields) -> Limits:
    found = sorted(fields.values.items())
    return tuple((name, v.total_seconds() if isinstance(v, timedelta) else v) for name, v in found)


_LIMITS = Record({name: Key(_reader(limit), _doc(limit)) for name, limit in LIMITS.items()}, _limits)


def _build(fields: Fields) -> Limits:
    limits = fields.get("limits")
    return () if limits is None else limits.built


GENERATOR = Record(
    {"limits": Key(_LIMITS, "Where a signal's saturation is 1, instead of the limits that ship.")},
    _build,
)
