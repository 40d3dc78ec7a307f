"""A target that is frozen for a while under an open loop and then under a closed one: what each of them should say.

Of `rate * lasts` arrivals evenly spaced in time, those due while the target is frozen for `frozen` seconds wait for its
end: a share `(frozen - x) / lasts` of all waits longer than `x`. So the quantile p is `frozen - (1 - p) * lasts`. A
user of a closed loop waits once and sends nothing meanwhile: as few requests are slow as there are users.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.compose.targets.tfserving_standin.running import a_stand_in
from tests.end_to_end.stage import free_ports, only_run, record, started, wait_for

PLAN = """
version: 1
name: frozen
target: {{kind: tfserving, rest: "http://{address}", model: m}}
workload: {{payloads: {{random: {{shape: [16]}}}}, timeout: 10s, pacing: {pacing}ms}}
stages:
  - {{name: arrivals, kind: hold, loop: open, rate: {rate}/s, for: {whole}s, discard: 1s}}
  - {{name: people, kind: hold, users: {users}, for: {then}s, discard: 1s}}
objectives: [p99 <= 100ms]
"""


@dataclass(frozen=True, slots=True)
class Frozen:
    """How the target is loaded: arrivals a second, then as many users as send as much, and for how many seconds."""

    rate: int
    users: int
    lasts: int
    closed_lasts: int
    frozen: float

    def expected_p99(self, seconds: float) -> float:
        """The open loop's P99 in seconds, for a window of that length."""
        return self.frozen - 0.01 * seconds


def run(folder: Path, case: Frozen) -> tuple[dict[str, Any], str]:
    """The record of a run in which the target is frozen once in each window, and what was printed."""
    runs, listen = folder / "runs", f"127.0.0.1:{free_ports(1)[0]}"
    environment = {**os.environ, "STAGELIGHT_RUNS": str(runs), "STAGELIGHT_LISTEN": listen}
    with a_stand_in() as stand_in:
        plan = folder / "frozen.yaml"
        facts = {"rate": case.rate, "users": case.users, "whole": case.lasts + 1, "then": case.closed_lasts + 1}
        pacing = 1000 * case.users // case.rate
        plan.write_text(PLAN.format(address=f"{stand_in.host}:{stand_in.port}", pacing=pacing, **facts))
        with started("run", plan, environment=environment) as process:
            for seq in (0, 1):
                wait_for(partial(_is_under_way, process, runs, seq), case.lasts + 60, f"slot {seq} is measured")
                if process.poll() is None:
                    stand_in.script({"freezes": [{"at": "1s", "for": f"{round(case.frozen * 1000)}ms"}]})
            output, _ = process.communicate(timeout=case.lasts + case.closed_lasts + 60)
    assert list(runs.glob("*/record.json")), output
    return record(only_run(runs)), output


def _is_under_way(process: subprocess.Popen[str], runs: Path, seq: int) -> bool:
    """Whether the window of a slot is open, or the program has ended before."""
    if process.poll() is not None:
        return True
    lines = (only_run(runs) / "journal.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    return any(entry.get("action") == "OpenWindow" and entry["seq"] == seq for entry in entries)
