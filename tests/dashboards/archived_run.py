"""The record of the synthetic run as the controller would have written it, made by the controller's own code."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from controller.plans.timetable import Slot as PlannedSlot
from controller.ports import Finding
from controller.running.chronicle import SlotTimes
from controller.verdicts.conclusion import archive_files, conclude
from tests.controller.loads import Reporter, a_cell, dice, remains, the_plan
from tests.dashboards.synthetic_run import PLAN, RUN_ID, SLOTS, latency

START = 1_893_456_000.0
"""Start of load where any time will do: 2030-01-01T00:00:00Z."""

SAMPLED = 20
"""The record counts every twentieth request of the synthetic run."""


def write_run(folder: Path, start: float, *, notes: tuple[str, ...] = ()) -> None:
    """Put `record.json` and the files beside it into `folder`; load began at `start`, in epoch seconds."""
    reporter = Reporter(now=start)
    chance = dice(7)
    planned: list[PlannedSlot] = []
    happened: dict[int, SlotTimes] = {}
    for seq, slot in enumerate(slot for slot in SLOTS if slot.users):
        discard = 5 if slot.phase == "steady" else 0
        begin, end = timedelta(seconds=slot.start), timedelta(seconds=slot.end)
        planned.append(
            PlannedSlot(seq, slot.stage, slot.phase, begin, end, slot.users, slot.users, timedelta(seconds=discard))
        )
        measured = start + slot.start + discard if slot.phase == "steady" else None
        happened[seq] = SlotTimes(seq, slot.stage, slot.phase, start + slot.start, measured, start + slot.end)
        median = latency(slot.users) * 1100
        number = round(slot.users / median * 1000 / SAMPLED)
        for second in range(slot.end - slot.start):
            spread = [median * math.exp(0.35 * chance.gauss(0, 1)) for _ in range(number)]
            inside = slot.phase == "steady" and second >= discard
            cells = [a_cell(spread, slot=seq, measured=inside)]
            if slot.users > 80:
                cells.append(a_cell([3.0], "http_error", slot=seq, measured=inside))
            reporter.second(*cells, users=slot.users)
    left = remains(
        reporter,
        planned,
        happened,
        run_id=RUN_ID,
        plan=the_plan(name=PLAN),
        started=datetime.fromtimestamp(start - 3, UTC),
        ended=datetime.fromtimestamp(start + SLOTS[-1].end + 1, UTC),
        findings=(Finding("target", True, "http://127.0.0.1:8501 answers: model scorer, version 1, AVAILABLE"),),
        notes=notes or ("The annotation outbox could not reach Grafana; regions wait for delivery.",),
        fingerprint={
            "target": {"kind": "tfserving", "rest": "http://127.0.0.1:8501", "model": "scorer", "versions": ["1"]},
            "workload": {"digest": "5e" * 32, "protocol": "rest"},
            "generator": {"workers": 1, "cpu_model": "A CPU <of> some & any make", "cores": 2, "memory_bytes": None},
            "tools": {"python": "3.11.7", "locust": "2.47.0"},
        },
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in archive_files(conclude(left), reporter.ledger).items():
        (folder / name).write_bytes(content)


def words(page: str) -> str:
    """What the page says, without scripts, styles and markup."""
    return re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S))
