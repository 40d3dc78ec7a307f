"""How a plan moves the limits at which its generator counts as saturated, and how often a probe looks beside it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from controller.plans.numbers import Duration
from controller.plans.plan import CANARY_PERIOD
from controller.plans.problems import Findings
from controller.plans.readers import Json
from controller.plans.scalars import Real
from controller.plans.tables import Fields, Key, Record
from controller.plans.yaml_source import Node, Scalar
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


@dataclass(frozen=True, slots=True)
class Generator:
    """What a plan says of its generator; `canary` is the time between two lone probes, None: none."""

    limits: Limits
    canary: timedelta | None


_NEVER = timedelta(0)
_EVERY = Duration(timedelta(milliseconds=500), timedelta(minutes=1))


class _Period:
    """A duration, or `off`."""

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """The duration; zero for `off`."""
        return _NEVER if isinstance(node, Scalar) and node.text == "off" else _EVERY.read(node, key, findings)

    def schema(self) -> Json:
        """One of the two."""
        return {"oneOf": [{"enum": ["off"]}, _EVERY.schema()]}


def _build(fields: Fields) -> Generator:
    limits, canary = fields.get("limits"), fields.get("canary", CANARY_PERIOD)
    return Generator(() if limits is None else limits.built, None if canary == _NEVER else canary)


GENERATOR = Record(
    {
        "limits": Key(_LIMITS, "Where a signal's saturation is 1, instead of the limits that ship."),
        "canary": Key(_Period(), "Time between two probes of the controller's own, or off (2s)."),
    },
    _build,
)
