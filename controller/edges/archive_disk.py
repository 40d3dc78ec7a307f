"""How much room the archive's disk has left, asked at each scrape."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controller import names


class ArchiveDisk(Collector):
    """Serves the bytes that are free and those that a run needs; nothing where the folder cannot be asked."""

    def __init__(self, path: Path, needed: int) -> None:
        """Look at the disk of the folder `path`; `needed` bytes must be free there for a run to begin."""
        self._path = path
        self._needed = needed

    def collect(self) -> Iterable[Metric]:
        """What prometheus_client calls at each scrape."""
        yield GaugeMetricFamily(names.ARCHIVE_NEEDED.name, names.ARCHIVE_NEEDED.help, value=self._needed)
        try:
            free = shutil.disk_usage(self._path).free
        except OSError:
            return
        yield GaugeMetricFamily(names.ARCHIVE_FREE.name, names.ARCHIVE_FREE.help, value=free)
