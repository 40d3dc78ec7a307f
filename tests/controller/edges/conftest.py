"""A Grafana double and an annotator for every test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_credential import TokenFile
from tests.controller.edges.grafana_double import TOKEN, GrafanaDouble
from tests.controller.edges.regions import FAST, HASTY


@pytest.fixture
def grafana() -> Iterator[GrafanaDouble]:
    double = GrafanaDouble()
    double.start()
    yield double
    double.stop()


@pytest.fixture
def token(tmp_path: Path) -> TokenFile:
    (tmp_path / "token").write_text(TOKEN + "\n")
    return TokenFile(tmp_path / "token")


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "outbox.jsonl"


@pytest.fixture
def annotator(grafana: GrafanaDouble, token: TokenFile, outbox: Path) -> Iterator[GrafanaAnnotator]:
    made = GrafanaAnnotator(outbox, grafana.url, token, FAST)
    yield made
    made.close(0)


@pytest.fixture
def hasty(grafana: GrafanaDouble, token: TokenFile, outbox: Path) -> Iterator[GrafanaAnnotator]:
    """An annotator that does not wait long for an answer."""
    made = GrafanaAnnotator(outbox, grafana.url, token, HASTY)
    yield made
    made.close(0)
