"""From what a run left behind to its record: windows measured, evidence judged, files of the archive written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from controller.figures import hlog, seconds
from controller.figures.latency import LatencyLedger
from controller.figures.window import measure_window
from controller.orders import Drained
from controller.outcome import Outcome
from controller.plans.plan import Plan
from controller.plans.timetable import Timetable
from controller.ports import Finding
from controller.running.chronicle import SlotTimes
from controller.verdicts import junit
from controller.verdicts.evidence import Evidence, Planned, generator_facts
from controller.verdicts.reasons import target_reasons, told_facts
from controller.verdicts.record import PlanRef, RunRecord, slot_record, to_json
from controller.verdicts.telling import remarks
from controller.verdicts.verdict import exit_code, judge
from exporters.loadgen_limits import in_force


@dataclass(frozen=True, slots=True)
class Remains:
    """What a run leaves behind. `slots` are the acknowledged times by slot number; `because` why it ended."""

    run_id: str
    plan: Plan
    timetable: Timetable
    slots: Mapping[int, SlotTimes]
    ledger: LatencyLedger
    drained: Drained | None
    outcome: Outcome
    because: str
    started: datetime
    ended: datetime
    fingerprint: Mapping[str, Any]
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    canary: Mapping[str, int] = field(default_factory=dict)


def conclude(remains: Remains) -> RunRecord:
    """Measure every window that began, judge, and put the whole into a record."""
    plan, slots = remains.plan, remains.timetable.slots
    limits = in_force(plan.generator_limits)
    windows = tuple(
        replace(window, remarks=remarks(window))
        for slot in slots
        if slot.seq in remains.slots
        and (window := measure_window(slot, remains.slots[slot.seq], remains.ledger, limits)) is not None
    )
    planned = tuple(
        Planned(slot.seq, slot.stage, slot.users_end, (slot.window[1] - slot.window[0]).total_seconds(), slot.rate_end)
        for slot in slots
        if slot.window
    )
    facts = generator_facts(remains.ledger, remains.drained, plan.workers, plan.generator_limits)
    evidence = Evidence(remains.outcome, remains.because, plan.objectives, planned, windows, facts)
    extra = {**remains.extra, **told_facts(remains.drained.told if remains.drained else {})}
    verdict = judge(evidence, target_reasons(extra))
    return RunRecord(
        run_id=remains.run_id,
        plan=PlanRef(plan.name, plan.digest, str(plan.path), plan.tags),
        started=remains.started,
        ended=remains.ended,
        outcome=remains.outcome,
        because=remains.because,
        exit_code=exit_code(remains.outcome, verdict),
        verdict=verdict,
        objectives=plan.objectives,
        windows=windows,
        totals=dict(facts.counted if facts.drained is None else facts.drained),
        generator=facts,
        timetable=tuple(slot_record(slot, remains.slots.get(slot.seq)) for slot in slots),
        findings=tuple(remains.findings),
        notes=tuple(remains.notes),
        fingerprint=dict(remains.fingerprint),
        extra=extra,
        canary=dict(remains.canary),
    )


def archive_files(record: RunRecord, ledger: LatencyLedger) -> dict[str, bytes]:
    """The files of the run folder that follow from record and ledger; the record last, so that it vouches for them."""
    return {
        "latency.hlog": hlog.of_ledger(ledger, record.started),
        "seconds.csv": seconds.to_csv(ledger.seconds),
        "junit.xml": junit.to_xml(record),
        "record.json": to_json(record),
    }
