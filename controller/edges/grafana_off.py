"""Annotations where there is no Grafana, or no way to log in to it: nothing is written, and that is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from controller.ports import Region


@dataclass(frozen=True, slots=True)
class GrafanaOff:
    """An Annotator that writes nothing; `why` is for the user."""

    why: str

    def put(self, region: Region) -> None:
        """Do nothing."""

    def pending(self) -> int:
        """Nothing waits."""
        return 0

    def failures(self) -> Mapping[str, int]:
        """Nothing was tried."""
        return {}

    def open_regions(self) -> Sequence[Region]:
        """None."""
        return ()

    def close(self, timeout: float) -> None:
        """Do nothing."""
