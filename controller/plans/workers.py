"""How many generator processes share the load, and where they run: a number, `auto`, or so many here and elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from controller.plans.numbers import Whole
from controller.plans.plan import Plan
from controller.plans.problems import Findings
from controller.plans.readers import WRONG, Json
from controller.plans.tables import Fields, Key, Record
from controller.plans.yaml_source import Node, Scalar, Table

MOST = 64
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Workers:
    """`local` processes on this machine, `remote` on other hosts; `auto`: the number is this machine's to say.

    `remote` None: as many as there are when a run begins.
    """

    local: int
    remote: int | None = 0
    auto: bool = False


def spare_cores() -> int:
    """As many workers as leave a core to master, controller and exporters, at least one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores - 1, MOST))


def settle(plan: Plan, remote: int) -> Plan:
    """The plan for a run with that many workers of other hosts, where it leaves their number open; its digest stays."""
    if plan.remote_workers is not None:
        return plan
    return replace(plan, workers=plan.workers + remote, remote_workers=remote)


class _Remote:
    """A number, or `auto`: None."""

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """The number, None, or `WRONG` with the problem noted."""
        if isinstance(node, Scalar) and node.text == AUTO:
            return None
        return _MANY.read(node, key, findings)

    def schema(self) -> Json:
        """Either."""
        return {"oneOf": [_MANY.schema(), {"enum": [AUTO]}]}


_MANY = Whole(0, MOST)


def _check(fields: Fields) -> None:
    if fields.get("local") == 0 and fields.get("remote") == 0:
        fields.refuse("local", "and remote are 0: nobody would load", "let one of them be at least 1")


_PLACES = Record(
    {
        "local": Key(_MANY, "Processes on this machine.", required=True),
        "remote": Key(
            _Remote(),
            "Processes that come from other hosts (`stagelight worker`).",
            required=True,
        ),
    },
    lambda fields: Workers(fields.get("local"), fields.get("remote")),
    _check,
)
_NUMBER = Whole(1, MOST)


class _Reader:
    """Of all three forms."""

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """`Workers`, or `WRONG` with the problem noted."""
        if isinstance(node, Table):
            fields = _PLACES.read(node, key, findings)
            return fields.built if isinstance(fields, Fields) else WRONG
        if isinstance(node, Scalar) and node.text == AUTO:
            return Workers(spare_cores(), auto=True)
        number = _NUMBER.read(node, key, findings)
        return WRONG if number is WRONG else Workers(number)

    def schema(self) -> Json:
        """Any of the three."""
        return {"oneOf": [_NUMBER.schema(), {"enum": [AUTO]}, _PLACES.schema()]}


WORKERS = _Reader()
