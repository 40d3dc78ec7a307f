"""The archive's room as the metrics tell it: the disk's own figure, and nothing where there is no folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from controller import names
from controller.edges.archive_disk import ArchiveDisk


def test_it_is_what_the_disk_says_at_each_scrape(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    registry.register(ArchiveDisk(tmp_path, 200))
    assert registry.get_sample_value(names.ARCHIVE_NEEDED.name) == 200
    before = shutil.disk_usage(tmp_path)
    told = registry.get_sample_value(names.ARCHIVE_FREE.name)
    assert told == pytest.approx(before.free, abs=before.total / 20)


def test_a_folder_that_is_gone_has_no_figure(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    registry.register(ArchiveDisk(tmp_path / "gone", 200))
    assert registry.get_sample_value(names.ARCHIVE_FREE.name) is None
