"""One run from plan to archive: its folder, its loop, its record, its files."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from controller.edges.canary import canary_for
from controller.edges.generator_process import GeneratorProcess
from controller.edges.room_probe import RoomProbe
from controller.edges.run_directory import ENDED, RunDirectory, RunsFolder
from controller.figures.latency import LatencyLedger
from controller.plans.plan import Plan
from controller.plans.timetable import lay_out
from controller.ports import Annotator, Clock, Discovery, EdgeError, RunBrokenError, SeriesStore, TargetProbe
from controller.running.board import Board, RunView
from controller.running.chronicle import Chronicle
from controller.running.fingerprint import answered_by, fingerprint, host_facts
from controller.running.limits import run_limits
from controller.running.loop import RunLoop, StopRequest
from controller.running.openmetrics import archive
from controller.running.performer import Performer, RunPorts
from controller.running.reporting import draw_report
from controller.running.scrape_age import ScrapeAge
from controller.running.scrape_watch import ScrapeWatch
from controller.running.staffing import staffed
from controller.running.states import Ended
from controller.verdicts.conclusion import Remains, archive_files, conclude
from controller.verdicts.reasons import TARGET_CHANGED
from controller.verdicts.record import RunRecord

ARCHIVED = ('{job="loadgen"}', '{job="stagelight"}', '{job="exporter"}', '{job="tfserving"}', '{__name__=~".+:.+:.+"}')
"""Which series a run takes along: every component's, and what the recording rules made of them."""


@dataclass(frozen=True, slots=True)
class World:
    """Everything outside that runs of this process share. `store` is None where no Prometheus is configured."""

    clock: Clock
    runs: RunsFolder
    annotator: Annotator
    store: SeriesStore | None
    prometheus_url: str | None
    deadline_factor: float
    discovery: Discovery
    probe: TargetProbe
    board: Board
    generator_listen: str = "127.0.0.1"
    generator_address: str | None = None
    generator_bind: tuple[str, int] | None = None
    worker_secret_file: Path | None = None
    worker_hosts: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that is over: its record, its folder, and its report, or why there is none."""

    record: RunRecord
    folder: Path
    report: Path | None
    trouble: str = ""


def new_run_id(plan: Plan, now: datetime) -> str:
    """`<plan>-<UTC time>-<four random hex digits>`, in letters that tags, labels and file names all take."""
    slug = re.sub(r"[^a-z0-9]+", "-", plan.name.lower()).strip("-")[:40] or "run"
    return f"{slug}-{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"


def conduct(world: World, plan: Plan, stop: StopRequest, turn: Callable[[], None] = lambda: None) -> Finished:
    """Run a plan to its end, whatever that is, and archive it.

    Raises `EdgeError` if nothing could begin, `RunBrokenError` if the archive could not be written afterwards.
    """
    started, plan = world.clock.now(), staffed(plan, world.worker_hosts)
    run_id = new_run_id(plan, started)
    directory = world.runs.create(run_id)
    try:
        return _conduct(world, plan, stop, turn, directory, run_id)
    except EdgeError as error:
        world.board.update(active=False, state="broken")
        raise RunBrokenError(f"run {run_id} broke: {error}") from error
    finally:
        directory.close()


def _conduct(
    world: World, plan: Plan, stop: StopRequest, turn: Callable[[], None], directory: RunDirectory, run_id: str
) -> Finished:
    started = world.clock.now()
    directory.write("plan.yaml", plan.source.encode())
    directory.journal({"began": run_id, "plan": plan.name, "digest": plan.digest, "base": str(plan.path.parent)})
    world.board.begin(RunView(run_id, plan))
    loop = _loop(world, plan, stop, turn, directory, run_id)
    watch = loop.performer.ports.watch
    try:
        ended = loop.run()
    finally:
        if watch is not None:
            watch.close()
    _take_series_along(world, started, directory, loop.chronicle)
    record = _record(world, plan, loop, ended, run_id, started)
    for name, content in archive_files(record, loop.ledger).items():
        directory.write(name, content)
    directory.journal({ENDED: record.outcome, "verdict": record.verdict.ruling, "exit_code": record.exit_code})
    world.board.update(
        active=False, state="ended", verdict=record.verdict.ruling.value, slots=tuple(loop.chronicle.slots.values())
    )
    world.board.count_run(record.outcome.value, record.verdict.ruling.value)
    try:
        url = world.prometheus_url if loop.limits.metrics else None
        return Finished(record, directory.path, draw_report(directory.path, url))
    except EdgeError as error:
        world.board.count_edge_failure("report")
        return Finished(record, directory.path, None, str(error))


def _loop(
    world: World, plan: Plan, stop: StopRequest, turn: Callable[[], None], directory: RunDirectory, run_id: str
) -> RunLoop:
    timetable = lay_out(plan)
    chronicle = Chronicle(timetable)
    metrics = world.store is not None and world.store.ready()
    if world.store is not None and not metrics:
        chronicle.note(f"Prometheus at {world.prometheus_url} did not answer: this run has no series from it")
    limits = run_limits(plan, timetable, world.clock.monotonic(), metrics=metrics, factor=world.deadline_factor)
    ports = RunPorts(
        GeneratorProcess(directory.path / "locust.log", world.generator_bind, world.worker_secret_file),
        world.annotator,
        world.discovery,
        directory,
        ScrapeWatch(world.store, run_id) if world.store is not None and metrics else None,
        world.generator_listen,
        world.generator_address,
    )
    performer = Performer(plan, run_id, ports, chronicle, timedelta(seconds=2 * limits.extend_every))
    return RunLoop(
        plan,
        timetable,
        limits,
        performer,
        RoomProbe(world.probe, world.runs.path),
        world.clock,
        world.board,
        stop,
        LatencyLedger(),
        chronicle,
        turn,
        canary_for(plan),
        ScrapeAge(world.store, run_id) if world.store is not None and metrics else None,
    )


def _record(world: World, plan: Plan, loop: RunLoop, ended: Ended, run_id: str, started: datetime) -> RunRecord:
    """Ask the target once more who it is, and put everything into the record."""
    after = world.probe.identity(plan)
    extra: dict[str, Any] = {}
    if "unknown" in after:
        loop.chronicle.note(f"after the run the target could not say who it is: {after['unknown']}")
    elif loop.identity != after:
        extra[TARGET_CHANGED] = {"before": loop.identity, "after": after}
    for finding in loop.findings:
        if finding.warning:
            loop.chronicle.note(finding.sentence)
    facts: Mapping[str, Any] = fingerprint(plan, {**loop.identity, **answered_by(loop.drained)}, host_facts())
    return conclude(
        Remains(
            run_id=run_id,
            plan=plan,
            timetable=loop.timetable,
            slots=loop.chronicle.slots,
            ledger=loop.ledger,
            drained=loop.drained,
            outcome=ended.outcome,
            because=ended.reason,
            started=started,
            ended=world.clock.now(),
            fingerprint=facts,
            findings=loop.findings,
            notes=tuple(loop.chronicle.notes),
            extra=extra,
            canary=loop.canary.counts() if loop.canary is not None else {},
        )
    )


def _take_series_along(world: World, started: datetime, directory: RunDirectory, chronicle: Chronicle) -> None:
    """Put every series of the run into the archive, so that the run outlives Prometheus' retention."""
    if world.store is None or not chronicle.slots:
        return
    try:
        directory.write("series.om.gz", archive(world.store, ARCHIVED, started, world.clock.now()))
    except EdgeError as error:
        world.board.count_edge_failure("prometheus")
        chronicle.note(f"the run's series were not archived: {error}")
