"""Why did requests fail? Each reason is logged when it comes first and counted; texts of errors are unbounded."""

from __future__ import annotations

import logging
from collections import Counter

from controller.breakdown import FAILED, GOOD, REASONS, VERSIONS, Breakdown
from controller.generator.ledger import GENERATOR_ERROR
from exporters.names.loadgen import OUTCOMES

MOST_REASONS = 50
"""Reasons that are told apart; further ones are `other`."""

log = logging.getLogger(__name__)


class Reasons:
    """Failures of one process by reason."""

    __slots__ = ("counts", "faults", "names", "retries", "versions")

    def __init__(self, versions: Counter[int] | None = None) -> None:
        """Nothing failed yet. `versions` counts answers by the version of the model, where answers tell it."""
        self.versions = Counter() if versions is None else versions
        self.names: Counter[tuple[str, bool]] = Counter()  # requests by name and whether they were good
        self.counts: Counter[str] = Counter()
        self.retries = 0  # attempts beyond the first of a request
        self.faults = 0  # failures of this machine

    def note(self, outcome: int, error: BaseException) -> None:
        """Count one failure that ended in `outcome`."""
        self.faults += outcome == GENERATOR_ERROR
        reason = f"{OUTCOMES[outcome]}: {type(error).__name__}: {error}"[:200]
        if reason not in self.counts:
            if len(self.counts) >= MOST_REASONS:
                reason = "other"
            else:
                log.warning("a request failed for the first time with %s", reason)
        self.counts[reason] += 1

    def retried(self) -> None:
        """Count one further attempt of a request that failed."""
        self.retries += 1

    def told(self) -> Breakdown:
        """Everything counted here."""
        return {
            VERSIONS: {str(version): number for version, number in self.versions.items()},
            GOOD: {name: number for (name, good), number in self.names.items() if good},
            FAILED: {name: number for (name, good), number in self.names.items() if not good},
            REASONS: dict(self.counts),
        }

    def log_totals(self) -> None:
        """One line for every reason, most frequent first."""
        for reason, number in self.counts.most_common():
            log.warning("%d requests failed with %s", number, reason)
        for version, number in sorted(self.versions.items()):
            log.warning("%d answers came from version %d of the model", number, version)
        if self.retries:
            log.warning("%d further attempts were made of requests that had failed", self.retries)
