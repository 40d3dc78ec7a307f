"""Play one case: server, program, watch, poison, and what all of them left."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller.running.annotation import DISTURBANCE
from tests.controller.edges.grafana_double import TOKEN, GrafanaDouble
from tests.end_to_end.stage import free_ports
from tests.validity.case import Case, Launch, Poison, Timing, plan_text
from tests.validity.live import Alarm, Sample, Watch, alarms
from tests.validity.program import Program, started
from tests.validity.servers import Server, a_server

START_SECONDS = 60.0
END_SECONDS = 60.0
LOCUST_WARNS = ("CPU usage above", "exceeded cpu threshold")


@dataclass(frozen=True, slots=True)
class Played:
    """Times are epoch seconds of this process: `opened` the window, `struck` the poison; None where they never were."""

    opened: float | None
    struck: float | None
    alarms: tuple[Alarm, ...]
    marks: tuple[Alarm, ...]
    peaks: dict[str, float]
    record: dict[str, Any]
    seconds: tuple[dict[str, str], ...]
    locust_warned: bool
    exit_code: int | None
    output: str
    took: float = field(default=0.0)


def play(case: Case, timing: Timing, folder: Path) -> Played:
    """About fifteen seconds longer than the load."""
    began = time.monotonic()
    folder.mkdir(parents=True)
    poison = case.poison or Poison()
    with a_server(case, folder) as server, poison.around(server.place) as launch, _a_grafana() as grafana:
        plan = folder / "plan.yaml"
        plan.write_text(plan_text(case, timing, server.addresses))
        settings = _settings(folder, launch, grafana)
        with started(server.place, plan, launch, settings) as program:
            watch = Watch(program.metrics, settings["STAGELIGHT_LISTEN"])
            try:
                watch.start()
                opened, struck = _run(case, poison, timing, server, program)
                program.ended_within(END_SECONDS)
                code = program.process.poll()
            finally:
                watch.end()
        marks = tuple(_marks(grafana))
    return _found(folder, program, opened, struck, watch.samples, marks, code, time.monotonic() - began)


@contextmanager
def _a_grafana() -> Iterator[GrafanaDouble]:
    grafana = GrafanaDouble()
    grafana.start()
    try:
        yield grafana
    finally:
        grafana.stop()


def _settings(folder: Path, launch: Launch, grafana: GrafanaDouble) -> dict[str, str]:
    token = folder / "token"
    token.write_text(TOKEN)
    own = {
        "STAGELIGHT_GRAFANA_URL": grafana.url,
        "STAGELIGHT_GRAFANA_TOKEN_FILE": str(token),
        "STAGELIGHT_RUNS": str(folder / "runs"),
        "STAGELIGHT_DISCOVERY": str(folder / "targets"),
        "STAGELIGHT_LISTEN": f"127.0.0.1:{free_ports(1)[0]}",
    }
    return {**own, **launch.environment}


def _run(
    case: Case, poison: Poison, timing: Timing, server: Server, program: Program
) -> tuple[float | None, float | None]:
    """Strike at the right moment and stop in time; when the window opened, and when the poison was there."""
    if not program.reached("OpenWindow", START_SECONDS):
        return None, None
    opened = time.time()
    if program.ended_within(timing.strike):
        return opened, None
    struck = time.time()
    with poison.strike(program) if case.poison else nullcontext():
        if case.script is not None:
            server.play(case.script)
        program.ended_within(timing.lasts - (time.time() - struck))
    return opened, struck


def _found(
    folder: Path,
    program: Program,
    opened: float | None,
    struck: float | None,
    samples: list[Sample],
    marks: tuple[Alarm, ...],
    code: int | None,
    took: float,
) -> Played:
    run = program.folder
    peaks: dict[str, float] = {}
    for sample in samples:
        if sample.name == "loadgen_saturation":
            signal = sample.labels["signal"]
            peaks[signal] = max(peaks.get(signal, 0.0), round(sample.value, 3))
    log = (run / "locust.log").read_text(errors="replace") if run and (run / "locust.log").exists() else ""
    return Played(
        opened,
        struck,
        tuple(alarms(samples)),
        marks,
        peaks,
        json.loads((run / "record.json").read_text()) if run and (run / "record.json").exists() else {},
        _rows(run / "seconds.csv") if run else (),
        any(words in log for words in LOCUST_WARNS),
        code,
        (folder / "output.txt").read_text(errors="replace")[-4000:],
        round(took, 1),
    )


def _marks(grafana: GrafanaDouble) -> Iterator[Alarm]:
    """What of the generator was marked in Grafana, at the moment at which it was there."""
    for row in grafana.rows.values():
        tags = dict(tag.split(":", 1) for tag in row["tags"] if ":" in tag)
        if DISTURBANCE in row["tags"]:
            yield Alarm(row["created"] / 1000, tags["signal"], tags["worker"], 1.0)


def _rows(path: Path) -> tuple[dict[str, str], ...]:
    if not path.exists():
        return ()
    with path.open(newline="") as file:
        return tuple(csv.DictReader(file))
