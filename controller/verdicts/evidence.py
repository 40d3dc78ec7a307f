"""Everything a verdict rests on, gathered after a run or read back from its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from controller.figures.latency import LatencyLedger
from controller.figures.window import Window, window_name
from controller.orders import Drained
from controller.outcome import Outcome
from controller.plans.criterion import Criterion
from controller.plans.generator import Limits
from exporters.loadgen_limits import in_force
from exporters.names.loadgen import OUTCOMES


@dataclass(frozen=True, slots=True)
class GeneratorFacts:
    """The generator's books over the whole run.

    `counted`: requests by outcome, summed over all intervals. `reported`: requests that ended by the last interval's
    own running count. `drained`: the generator's final totals by outcome, None if it never gave them. `aborted` were
    in flight when the drain was over; they are `generator_error` in `drained`. `limits` were in force, by signal.
    """

    workers: int
    counted: dict[str, int]
    reported: int
    started: int
    drained: dict[str, int] | None = None
    aborted: int = 0
    limits: dict[str, float] = field(default_factory=dict)  # empty: of a record that is older than they are


@dataclass(frozen=True, slots=True)
class Planned:
    """A window that the plan asked for."""

    slot: int
    stage: str
    users: int
    seconds: float
    rate: float | None = None  # arrivals a second, in an open loop

    @property
    def name(self) -> str:
        """Stage and load."""
        return window_name(self.stage, self.users, self.rate)


@dataclass(frozen=True, slots=True)
class Evidence:
    """How the run ended and why (a sentence), what was asked of it, and what was measured."""

    outcome: Outcome
    because: str
    objectives: tuple[Criterion, ...]
    planned: tuple[Planned, ...]
    windows: tuple[Window, ...]
    generator: GeneratorFacts


def generator_facts(
    ledger: LatencyLedger, drained: Drained | None, workers: int, limits: Limits = ()
) -> GeneratorFacts:
    """The books as ledger and drain show them; `workers` is how many there should be, `limits` what the plan set."""
    return GeneratorFacts(
        workers=workers,
        counted=dict(ledger.totals),
        reported=ledger.reported,
        started=ledger.started if drained is None else drained.started,
        drained=None if drained is None else _every_outcome(drained.totals),
        aborted=0 if drained is None else drained.aborted,
        limits=in_force(limits),
    )


def _every_outcome(totals: Mapping[str, int]) -> dict[str, int]:
    return {**dict.fromkeys(OUTCOMES, 0), **totals}
