"""One metric's contract: name, type, help and labels, written once and used by code, docs and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A metric family as Prometheus will see it; `name` carries the unit and, on counters, `_total`.

    Written once, so it is itself and no other: to compare or hash it costs nothing, which samples do by the thousand.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram", "info"]
    help: str
    labels: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The name prometheus_client wants: counters without `_total`, infos without `_info`."""
        match self.kind:
            case "counter":
                return self.name.removesuffix("_total")
            case "info":
                return self.name.removesuffix("_info")
            case "gauge" | "histogram":
                return self.name
