"""Latency distributions: how to draw from each, and the exact quantiles that a measurement of it should find."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from random import Random
from statistics import NormalDist
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, model_validator

from .durations import Seconds

NORMAL = NormalDist()


class Shape(BaseModel, ABC):
    """What all distributions share: unknown keys are errors, and values never change. Times are in seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @abstractmethod
    def quantile(self, q: float) -> float:
        """The time in seconds below which a share `q` (0 < q < 1) of all draws lies."""

    def draw(self, random: Random, index: int) -> float:  # noqa: ARG002 - a cycle needs the index
        """One time in seconds; `index` is the number of draws before it."""
        return self.quantile(random.random() or 0.5)


class Constant(Shape):
    """Always the same."""

    kind: Literal["constant"] = "constant"
    value: Seconds

    def quantile(self, q: float) -> float:  # noqa: ARG002 - all are equal
        """The value itself."""
        return self.value


class Uniform(Shape):
    """Anything between two bounds, equally likely."""

    kind: Literal["uniform"]
    low: Seconds
    high: Seconds

    @model_validator(mode="after")
    def _ordered(self) -> Uniform:
        if self.high < self.low:
            raise ValueError(f"high ({self.high} s) is below low ({self.low} s)")
        return self

    def quantile(self, q: float) -> float:
        """Linear between the bounds."""
        return self.low + q * (self.high - self.low)


class Exponential(Shape):
    """`floor` plus an exponential part, so that the whole has the given mean."""

    kind: Literal["exponential"]
    mean: Seconds
    floor: Seconds = 0.0

    @model_validator(mode="after")
    def _above_floor(self) -> Exponential:
        if self.mean < self.floor:
            raise ValueError(f"mean ({self.mean} s) is below floor ({self.floor} s)")
        return self

    def quantile(self, q: float) -> float:
        """-ln(1 - q) times the mean of the exponential part."""
        return self.floor - math.log1p(-q) * (self.mean - self.floor)


class Lognormal(Shape):
    """Normal in the logarithm: `sigma` is that normal's standard deviation."""

    kind: Literal["lognormal"]
    median: Seconds
    sigma: PositiveFloat

    def quantile(self, q: float) -> float:
        """median * exp(sigma * z)."""
        return self.median * math.exp(self.sigma * NORMAL.inv_cdf(q))


class Bimodal(Shape):
    """Two values: `high` with the given share, `low` otherwise."""

    kind: Literal["bimodal"]
    low: Seconds
    high: Seconds
    share: Annotated[float, Field(ge=0, le=1)]

    def quantile(self, q: float) -> float:
        """Low up to the remaining share, high above it."""
        return self.low if q < 1 - self.share else self.high


class Empirical(Shape):
    """A list of times, drawn at random or one after the other, from the start again at its end."""

    kind: Literal["empirical"]
    values: Annotated[tuple[Seconds, ...], Field(min_length=1)]
    order: Literal["random", "cycle"] = "random"

    def quantile(self, q: float) -> float:
        """The smallest listed time with at least a share `q` of the list at or below it."""
        ordered = sorted(self.values)
        return ordered[min(len(ordered) - 1, max(0, math.ceil(q * len(ordered)) - 1))]

    def draw(self, random: Random, index: int) -> float:
        """A listed time."""
        values = self.values
        return values[index % len(values)] if self.order == "cycle" else values[random.randrange(len(values))]


Latency = Annotated[Constant | Uniform | Exponential | Lognormal | Bimodal | Empirical, Field(discriminator="kind")]
