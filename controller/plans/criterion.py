"""A criterion on one indicator: the grammar that objectives and stop rules share, parsed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class Indicator(StrEnum):
    """What a criterion can look at. Latencies are in seconds, ratios in 0..1, throughput in requests a second."""

    MEAN = "mean"
    P50 = "p50"
    P90 = "p90"
    P95 = "p95"
    P99 = "p99"
    P999 = "p99.9"
    MAX = "max"
    THROUGHPUT = "throughput"
    ERROR_RATIO = "error_ratio"
    TIMEOUT_RATIO = "timeout_ratio"
    DEGRADED_RATIO = "degraded_ratio"  # answers of a fallback: usable, no error, no `ok` either
    SATURATION = "saturation"  # "generator saturated" is `saturation >= 1`


QUANTILES: dict[Indicator, float] = {
    Indicator.P50: 0.50,
    Indicator.P90: 0.90,
    Indicator.P95: 0.95,
    Indicator.P99: 0.99,
    Indicator.P999: 0.999,
}


class Operator(StrEnum):
    """Comparison between the indicator and its bound."""

    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    def holds(self, value: float, bound: float) -> bool:
        """Whether `value OP bound`."""
        match self:
            case Operator.LT:
                return value < bound
            case Operator.LE:
                return value <= bound
            case Operator.GT:
                return value > bound
            case Operator.GE:
                return value >= bound


@dataclass(frozen=True, slots=True)
class Criterion:
    """`p99 <= 50ms`; `bound` in the indicator's base unit; `text` as its author wrote it."""

    text: str
    indicator: Indicator
    operator: Operator
    bound: float


@dataclass(frozen=True, slots=True)
class StopRule:
    """A criterion which, held without a break for `held_for`, ends the run early."""

    text: str
    criterion: Criterion
    held_for: timedelta
