"""The report of a run, drawn by the dashboards' own program: controller and dashboards share nothing but names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from controller.ports import EdgeError

PATIENCE = 120.0
"""Seconds that drawing may take."""


def draw_report(run_folder: Path, prometheus_url: str | None) -> Path:
    """Write `report.html` into the run folder and return its path. Raises `EdgeError`."""
    command = [sys.executable, "-m", "dashboards.report", "--run", str(run_folder)]
    if prometheus_url:
        command += ["--prometheus", prometheus_url]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        raise EdgeError(f"could not draw the report of {run_folder}: it took longer than {PATIENCE:.0f} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise EdgeError(f"could not draw the report of {run_folder}: {last}")
    return run_folder / "report.html"
