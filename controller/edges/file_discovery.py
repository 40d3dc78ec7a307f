"""Tells Prometheus at run time what to scrape, through its file-based service discovery: one file a job.

Prometheus may read at any moment, so a file is always whole; withdrawing leaves an empty list and not no file, because
Prometheus keeps the last targets of a file that it cannot read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.ports import EdgeError

_JOB = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class FileDiscovery:
    """`folder` is what `file_sd_configs` of prometheus.yml names as `<folder>/<job>.json`."""

    folder: Path

    def publish(self, job: str, address: str, labels: Mapping[str, str]) -> None:
        """Make `address` (host:port) the target of `job`. Raises `EdgeError`."""
        self._write(job, [{"targets": [address], "labels": dict(labels)}])

    def withdraw(self, job: str) -> None:
        """Leave no target of `job`. Raises `EdgeError`."""
        self._write(job, [])

    def _write(self, job: str, content: Sequence[Mapping[str, Any]]) -> None:
        if not _JOB.fullmatch(job):
            raise EdgeError(f"could not publish targets of the job {job!r}: its name cannot be a file's name")
        target = self.folder / f"{job}.json"
        fresh = self.folder / f".{job}.json.new"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with fresh.open("w", encoding="utf-8") as file:
                json.dump(content, file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(target)
        except OSError as error:
            raise EdgeError(
                f"could not tell Prometheus what to scrape: {error}; make {self.folder} writable"
            ) from error
