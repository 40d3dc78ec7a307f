"""After a crash: runs that nobody closed are closed as abandoned, from what their journals tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from controller.edges.leftovers import end_leftovers
from controller.edges.run_directory import ENDED, RunDirectory, RunsFolder, read_journal
from controller.figures.latency import LatencyLedger
from controller.outcome import Outcome
from controller.plans.loader import load_plan
from controller.plans.plan import Plan
from controller.plans.problems import PlanError
from controller.plans.timetable import lay_out
from controller.ports import Annotator, Clock, Discovery
from controller.running.annotation import end_unknown
from controller.running.chronicle import Chronicle
from controller.running.fingerprint import fingerprint, host_facts
from controller.running.scrape_watch import JOB
from controller.verdicts.conclusion import Remains, archive_files, conclude

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Abandoned:
    """A run that was closed for its lost controller, and why."""

    run_id: str
    why: str


def close_dangling(runs: RunsFolder, annotator: Annotator, discovery: Discovery, clock: Clock) -> tuple[Abandoned, ...]:
    """Close every run that was begun and never ended; the runs folder must be owned, so that none is alive."""
    discovery.withdraw(JOB)
    return tuple(_close(folder, annotator, clock) for folder in runs.dangling())


def _close(folder: Path, annotator: Annotator, clock: Clock) -> Abandoned:
    run_id = folder.name
    ended = end_leftovers(run_id)
    entries = read_journal(folder)
    times = [datetime.fromisoformat(entry["time"]) for entry in entries if "time" in entry]
    for region in annotator.open_regions():
        if region.run_id == run_id:
            annotator.put(end_unknown(region, times[-1] if times else None))
    left = f"; what still ran of its generator was ended (processes: {ended})" if ended else ""
    why = why_abandoned(entries) + left
    directory = RunDirectory.open(folder, clock)
    try:
        plan = _plan(folder, entries)
        if plan is not None:
            for name, content in _files(run_id, plan, entries, why, clock).items():
                directory.write(name, content)
        directory.journal({ENDED: Outcome.ABANDONED, "because": why})
    finally:
        directory.close()
    return Abandoned(run_id, why)


def _plan(folder: Path, entries: Sequence[Entry]) -> Plan | None:
    """The plan as it was run; None when it cannot be read any more, for example because its payloads are gone."""
    began = next((entry for entry in entries if "began" in entry), None)
    try:
        return load_plan(folder / "plan.yaml", base=Path(began["base"])) if began else None
    except PlanError:
        return None


def _files(run_id: str, plan: Plan, entries: Sequence[Entry], why: str, clock: Clock) -> dict[str, bytes]:
    """A record without figures: the counts were in the memory of the lost controller."""
    chronicle = chronicle_of(plan, entries)
    times = [datetime.fromisoformat(entry["time"]) for entry in entries if "time" in entry]
    remains = Remains(
        run_id=run_id,
        plan=plan,
        timetable=chronicle.timetable,
        slots=chronicle.slots,
        ledger=LatencyLedger(),
        drained=None,
        outcome=Outcome.ABANDONED,
        because=why,
        started=times[0] if times else clock.now(),
        ended=times[-1] if times else clock.now(),
        fingerprint=fingerprint(plan, {}, host_facts()),
        notes=tuple(chronicle.notes),
    )
    return archive_files(conclude(remains), remains.ledger)


def chronicle_of(plan: Plan, entries: Sequence[Entry]) -> Chronicle:
    """Slots as far as the journal saw them take effect and end."""
    chronicle = Chronicle(lay_out(plan))
    for entry in entries:
        match entry.get("action"):
            case "OpenSlot":
                chronicle.open(entry["seq"], entry["at"])
            case "OpenWindow":
                chronicle.open_window(entry["seq"], entry["at"])
            case "CloseSlot":
                chronicle.close(entry["seq"], entry["at"])
            case "Note":
                chronicle.note(entry["text"])
            case _:
                pass
    return chronicle


def why_abandoned(entries: Sequence[Entry]) -> str:
    """One sentence for the record."""
    given = [entry["order"] for entry in entries if entry.get("action") == "Give"]
    where = f"in stage {given[-1]['stage']} ({given[-1]['phase']})" if given else "before any load"
    last = entries[-1].get("time", "an unknown time") if entries else "an unknown time"
    return f"the controller was lost {where}; its last sign of life is from {last}"
