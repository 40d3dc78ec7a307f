"""What every edge of a kind promises, real or rehearsed; what only the real ones do is tested beside each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from controller.edges.file_discovery import FileDiscovery
from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_off import GrafanaOff
from controller.edges.rehearsal import RehearsalAnnotator, RehearsalDiscovery
from controller.ports import Annotator, Discovery
from controller.running import annotation
from tests.controller.edges.grafana_double import GrafanaDouble
from tests.controller.edges.regions import a_region, until


@dataclass(frozen=True, slots=True)
class Annotated:
    """An annotator, how its Grafana goes and comes back, and the ends by key that its Grafana shows."""

    annotator: Annotator
    down: Callable[[bool], None]
    shown: Callable[[], dict[str, float]]


@pytest.fixture(params=["grafana", "rehearsal"])
def annotated(request: pytest.FixtureRequest, grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> Annotated:
    if request.param == "grafana":
        return Annotated(
            annotator,
            lambda down: grafana.stop() if down else grafana.start(),
            lambda: {row["data"]["key"]: row["timeEnd"] / 1000 for row in grafana.rows.values()},
        )
    made = RehearsalAnnotator()
    return Annotated(
        made,
        lambda down: setattr(made, "down", down),
        lambda: {key: region.end.timestamp() for key, region in made.regions.items()},
    )


def test_the_newest_version_of_each_region_is_shown_once(annotated: Annotated) -> None:
    for ends in (10, 20, 30):
        annotated.annotator.put(a_region(0, ends=ends, closed=False))
    annotated.annotator.put(a_region(1))
    until(lambda: annotated.annotator.pending() == 0)
    assert annotated.shown() == {"r-1/0": a_region(0, ends=30).end.timestamp(), "r-1/1": a_region(1).end.timestamp()}
    assert dict(annotated.annotator.failures()) == {}


def test_open_regions_are_those_that_nobody_closed(annotated: Annotated) -> None:
    annotated.annotator.put(a_region(0, closed=False))
    annotated.annotator.put(a_region(1, closed=False))
    annotated.annotator.put(a_region(1))
    assert [region.key for region in annotated.annotator.open_regions()] == ["r-1/0"]
    annotated.annotator.put(annotation.end_unknown(a_region(0, closed=False)))
    assert list(annotated.annotator.open_regions()) == []


def test_while_grafana_is_down_regions_wait_and_failures_are_counted(annotated: Annotated) -> None:
    annotated.down(True)
    annotated.annotator.put(a_region(0))
    assert annotated.annotator.pending() == 1
    until(lambda: annotated.annotator.failures().get("unreachable", 0) >= 1)
    assert annotated.shown() == {}
    annotated.down(False)
    until(lambda: annotated.annotator.pending() == 0)
    assert list(annotated.shown()) == ["r-1/0"]


def test_closing_delivers_what_waits(annotated: Annotated) -> None:
    annotated.annotator.put(a_region(0))
    annotated.annotator.close(5)
    assert list(annotated.shown()) == ["r-1/0"]


def test_without_grafana_nothing_is_kept_and_the_reason_is_there() -> None:
    off: Annotator = GrafanaOff("no Grafana is configured")
    off.put(a_region())
    assert (off.pending(), off.failures(), off.open_regions()) == (0, {}, ())
    off.close(1)


@pytest.fixture(params=["file", "rehearsal"])
def discovered(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Discovery, Callable[[], list[str]]]:
    if request.param == "rehearsal":
        made = RehearsalDiscovery()
        return made, lambda: [address for address, _ in made.published.values()]
    path = tmp_path / "loadgen.json"
    return FileDiscovery(tmp_path), lambda: [
        target for group in json.loads(path.read_text()) for target in group["targets"]
    ]


def test_a_job_has_one_target_or_none(discovered: tuple[Discovery, Callable[[], list[str]]]) -> None:
    discovery, targets = discovered
    discovery.withdraw("loadgen")
    assert targets() == []
    discovery.publish("loadgen", "127.0.0.1:1", {"a": "b"})
    discovery.publish("loadgen", "127.0.0.1:2", {})
    assert targets() == ["127.0.0.1:2"]
    discovery.withdraw("loadgen")
    discovery.withdraw("loadgen")
    assert targets() == []
