from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from controller.edges.grafana_credential import TokenFile
from tests.controller.edges.grafana_double import GrafanaDouble, Stall

ROOT = Path(__file__).parents[3]
EACH = 2


@dataclass
class Killer:
    """Kills a process when Grafana gets its n-th request, before or after Grafana has done what it asks."""

    grafana: GrafanaDouble
    at_request: int
    process: subprocess.Popen[str]
    seen: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, _method: str) -> None:
        with self.lock:
            self.seen += 1
            if self.seen == self.at_request:
                self.process.kill()


def start(grafana: GrafanaDouble, token: Path, outbox: Path, first: int, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.controller.edges.annotator_process"]
    arguments = [grafana.url, str(token), str(outbox), str(first), str(number)]
    return subprocess.Popen([*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> list[str]:
    """Its whole lines: it may have been killed in the middle of one."""
    out, _ = process.communicate(timeout=30)
    return out.split("\n")[:-1]


def test_a_process_killed_in_mid_delivery_again_and_again_leaves_each_region_once(
    grafana: GrafanaDouble, token: TokenFile, outbox: Path
) -> None:
    """Requests alternate between looking and writing, so both are cut, before they take effect and after, and late."""
    put: set[str] = set()
    kills = 0
    for round_, (at_request, stall) in enumerate(
        [
            (1, None),
            (2, None),
            (2, Stall("after", 0.3)),
            (2, Stall("before", 1.5)),  # stored after the next process has looked and posted
            (3, None),
            (4, Stall("after", 0.3)),
            (5, None),
        ]
    ):
        if stall is not None:
            grafana.fail("POST" if at_request == 2 else "PATCH", stall)
        process = start(grafana, token.path, outbox, round_ * EACH, EACH)
        grafana.on_request = Killer(grafana, at_request, process)
        lines = said(process)
        kills += process.returncode == -9
        put |= {line.split()[1] for line in lines if line.startswith("put")}
    grafana.on_request = lambda _method: None
    last = start(grafana, token.path, outbox, 7 * EACH, EACH)
    assert said(last)[-1] == "done"
    assert kills == 7
    keys = sorted(row["data"]["key"] for row in grafana.rows.values())
    assert keys == sorted(set(keys))
    assert {f"r-1/{seq}" for seq in put} <= set(keys)
    assert len(put) >= 7
    assert grafana.complaints == []
