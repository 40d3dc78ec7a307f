from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dashboards.files import documents
from tests.dashboards.grafana_types import VERSIONS, Grafana, install, problems
from tests.needs import need

Json = dict[str, Any]


def first_of(document: Json, kind: str) -> Json:
    panel: Json = next(panel for panel in document["panels"] if panel["type"] == kind)
    return panel


def wrong_colour_mode(document: Json) -> None:
    first_of(document, "heatmap")["options"]["color"]["mode"] = "schema"


def unknown_key(document: Json) -> None:
    first_of(document, "timeseries")["options"]["legend"]["position"] = "bottom"


def threshold_as_text(document: Json) -> None:
    first_of(document, "stat")["fieldConfig"]["defaults"]["thresholds"]["steps"][0]["value"] = "null"


def datasource_as_text(document: Json) -> None:
    first_of(document, "stat")["datasource"] = "${datasource}"


def override_of_nothing(document: Json) -> None:
    matcher = {"id": "byName", "options": "x"}
    wrong = {"matcher": matcher, "properties": [{"id": "custom.lineStyel", "value": {"fill": "dash"}}]}
    first_of(document, "timeseries")["fieldConfig"]["overrides"].append(wrong)


def removed_panel_type(document: Json) -> None:
    first_of(document, "timeseries")["type"] = "graph"


MISTAKES = (
    wrong_colour_mode,
    unknown_key,
    threshold_as_text,
    datasource_as_text,
    override_of_nothing,
    removed_panel_type,
)


@pytest.mark.slow
@pytest.mark.parametrize("grafana", VERSIONS, ids=lambda grafana: f"grafana-{grafana.version}")
def test_every_board_fits_the_types_of_the_version_and_a_mistake_does_not(grafana: Grafana, tmp_path: Path) -> None:
    install(need("npm"))
    found = problems(boards_and_mistakes(), grafana, tmp_path, need("node"))
    assert {name: lines for name, lines in found.items() if not name.startswith("mistake_")} == {}
    assert set(found) == {name(mistake) for mistake in MISTAKES}


def boards_and_mistakes() -> dict[str, str]:
    """All boards by uid, and the first board with one mistake at a time; one compiler run takes them all."""
    boards = {file.removesuffix(".json"): text for file, text in documents().items()}
    for mistake in MISTAKES:
        document = json.loads(next(iter(boards.values())))
        mistake(document)
        boards[name(mistake)] = json.dumps(document)
    return boards


def name(mistake: Callable[[Json], None]) -> str:
    return f"mistake_{mistake.__name__}"
