"""A target probe that looks at the generator's own machine as well: after the trial requests, before any load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.generator.own_room import read_room
from controller.plans.plan import Plan
from controller.plans.timetable import lay_out
from controller.ports import Finding, TargetProbe
from controller.running.room import findings, need_of
from exporters.loadgen_limits import in_force


@dataclass(frozen=True, slots=True)
class RoomProbe:
    """`probe` looks at the target; `runs` is the archive's folder."""

    probe: TargetProbe
    runs: Path

    def preflight(self, plan: Plan) -> Sequence[Finding]:
        """The target's findings and, if all of them are fit, the machine's: by how long the trial requests took."""
        found = list(self.probe.preflight(plan))
        if all(finding.fit for finding in found):
            took = next((finding.seconds for finding in found if finding.seconds is not None), None)
            found.extend(room_findings(plan, self.runs, took))
        return found

    def identity(self, plan: Plan) -> Mapping[str, Any]:
        """What the target says of itself."""
        return self.probe.identity(plan)


def room_findings(plan: Plan, runs: Path, took: float | None) -> list[Finding]:
    """This machine against the plan; `took` seconds is a request's median so far, None: the timeout stands for it."""
    need = need_of(plan, lay_out(plan), took)
    return list(findings(need, read_room(runs), in_force(plan.generator_limits)))
