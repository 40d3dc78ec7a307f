"""What the report says of the generator's own limits: a run invalid for them, one with a cut, one disturbed shortly."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from controller.figures.canary import Probe
from controller.orders import WorkerHealth
from controller.verdicts.conclusion import conclude
from controller.verdicts.record import to_json
from dashboards.report import limits, strip, tables
from dashboards.report.record import Run, read
from tests.controller.loads import T0, Reporter, a_cell, a_slot, remains


def a_run(folder: Path, hot: Callable[[int], bool]) -> Run:
    """A minute of load; in the seconds that are hot a worker's CPU is at 1.3 times its limit."""
    reporter = Reporter()
    for number in range(60):
        cpu = 1.3 if hot(number) else 0.4
        reporter.second(
            a_cell([12.0] * 200), workers=(WorkerHealth("worker-1", 5, 0.2, {"cpu": cpu}, {300: 49, 2500: 1}),)
        )
        if number % 2 == 0:
            reporter.ledger.probes.append(Probe(T0 + number + 0.2, 0.010, "ok"))
    record = conclude(remains(reporter, [a_slot(length=60.0)], canary={"ok": 30}))
    (folder / "record.json").write_bytes(to_json(record))
    return read(folder / "record.json")


def words(markup: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", markup).replace("&gt;", ">").split())


def test_an_invalid_run_names_signal_worker_time_and_remedy(tmp_path: Path) -> None:
    run = a_run(tmp_path, lambda number: number % 6 < 2)
    said = words(tables.verdict(run))
    assert "cpu of worker-1, 10 times from 00:00:00 to 00:00:56 UTC (20 s, 33 % of the window, at most 1.30" in said
    assert "give the plan more workers" in said
    assert "in the figures" in words(limits.disturbances(run))
    assert ">= 200.0/s" in words(tables.requests(run))


def test_a_cut_is_said_at_the_verdict_in_the_tables_and_on_the_axis(tmp_path: Path) -> None:
    run = a_run(tmp_path, lambda number: 20 <= number < 26)
    remark = "measured over 51 of 60 s; cut 00:00:19 to 00:00:28 UTC: cpu of worker-1"
    assert remark in words(tables.verdict(run))
    assert remark in words(limits.disturbances(run))
    assert "cut out" in words(limits.disturbances(run))
    assert "51 s of 60 s" in words(tables.requests(run))
    assert "cut" in {trace.text[0] for trace in strip.strip(run).data}


def test_a_short_disturbance_is_said_and_stays_in_the_figures(tmp_path: Path) -> None:
    run = a_run(tmp_path, lambda number: 30 <= number < 32)
    assert run.windows[0].cut is None
    assert "for too short a time to matter" in words(tables.verdict(run))
    assert "1.30 times 95.0 %" in words(limits.disturbances(run))


def test_a_calm_run_says_so_and_what_of_its_latency_may_be_its_own(tmp_path: Path) -> None:
    run = a_run(tmp_path, lambda _: False)
    assert "at none of its limits" in words(limits.disturbances(run))
    said = words("".join(limits.distortion(run)))
    assert "at most 2.50 ms" in said  # the P99: one wake-up in fifty was late by so much
    assert "30 lone probes were sent" in said
    assert "10.0 ms 12.0 ms" in said  # the canary's median, and the generator's in the same seconds
