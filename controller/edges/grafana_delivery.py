"""Bring Grafana to show one region exactly once, whatever it shows now; every step may be repeated.

There is no identity that we could choose and no create-once in Grafana's API, so each delivery looks first: nothing
there, then POST; there, then PATCH the lowest id and delete our other copies. One process writes at a time, but a
POST whose answer was lost may still be on its way; so it is looked for once more, later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from controller.edges.grafana_failure import GrafanaError, Reason
from controller.edges.grafana_http import GrafanaHttp, Stored, body
from controller.ports import Region


@dataclass(frozen=True, slots=True)
class Delivered:
    """How Grafana came to have the region: by a POST or by a PATCH; `removed` copies were deleted."""

    posted: bool
    removed: int


def deliver(grafana: GrafanaHttp, region: Region, before_post: Callable[[], None]) -> Delivered:
    """Make it so. Raises `GrafanaError`; `before_post` is called before anything may come into being."""
    wanted = body(region)
    found = grafana.search(region)
    if not found:
        before_post()
        grafana.post(wanted)
        return Delivered(posted=True, removed=0)
    grafana.patch(found[0].id, wanted)
    return Delivered(posted=False, removed=_remove(grafana, found[1:]))


def confirm(grafana: GrafanaHttp, region: Region) -> int:
    """Delete late copies; their number. Raises `GrafanaError`, with the reason `gone` when there is none at all."""
    found = grafana.search(region)
    if not found:
        raise GrafanaError(Reason.GONE, f"could not find the annotation of {region.key} at {grafana.url} again")
    return _remove(grafana, found[1:])


def read_back(grafana: GrafanaHttp, region: Region) -> None:
    """Raises `GrafanaError` when Grafana shows another time than it was sent (seconds taken for milliseconds…)."""
    wanted = body(region)
    for found in grafana.search(region):
        if (found.time, found.time_end) != (wanted["time"], wanted["timeEnd"]):
            raise GrafanaError(
                Reason.READ_BACK,
                f"Grafana at {grafana.url} shows the region {region.key} from {found.time} to {found.time_end} ms, "
                f"but was sent {wanted['time']} to {wanted['timeEnd']} ms; annotations cannot be trusted",
            )


def _remove(grafana: GrafanaHttp, copies: Sequence[Stored]) -> int:
    for copy in copies:
        try:
            grafana.delete(copy.id)
        except GrafanaError as error:
            if error.reason is not Reason.GONE:
                raise
    return len(copies)
