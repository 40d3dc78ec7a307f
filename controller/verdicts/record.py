"""The archived truth of one run as one value, and its strict JSON: no NaN, an absence is null with its reason.

Keys come in the order of the fields below, mappings sorted, so that equal records are equal bytes. Times are RFC 3339
in UTC, durations seconds, latencies seconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn

from pydantic import TypeAdapter, ValidationError

from controller.exit_codes import ExitCode
from controller.figures.measurement import METHOD
from controller.figures.window import Window
from controller.outcome import Outcome
from controller.plans.arrivals import Arrivals
from controller.plans.criterion import Criterion
from controller.plans.plan import Phase
from controller.plans.timetable import Slot
from controller.ports import Finding
from controller.running.chronicle import SlotTimes
from controller.verdicts.evidence import Evidence, GeneratorFacts, Planned
from controller.verdicts.verdict import Verdict

SCHEMA = 1
"""Version of the record; raised when a reader of the old one would misunderstand the new one."""


class RecordError(Exception):
    """A record cannot be read; the sentence says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class PlanRef:
    """Which plan was run: `digest` is what it said, `path` where it lay."""

    name: str
    digest: str
    path: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SlotRecord:
    """One slot as planned (seconds from the start of load) and as the generator acknowledged it (None: never)."""

    seq: int
    stage: str
    phase: Phase
    users_start: int
    users_end: int
    planned_start: float
    planned_end: float
    discard: float
    started: datetime | None = None
    measured_from: datetime | None = None
    ended: datetime | None = None
    arrivals: Arrivals | None = None  # of an open loop


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything that is known of a run once it is over. `because` says in a sentence why it ended.

    `canary` counts the controller's own probes by outcome: the target received them, and no other figure holds them.
    `load_started` and `load_ended` are the first and the last acknowledged instant under load.
    """

    run_id: str
    plan: PlanRef
    started: datetime
    ended: datetime
    outcome: Outcome
    because: str
    exit_code: ExitCode
    verdict: Verdict
    objectives: tuple[Criterion, ...]
    windows: tuple[Window, ...]
    totals: dict[str, int]
    generator: GeneratorFacts
    timetable: tuple[SlotRecord, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    fingerprint: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)
    canary: dict[str, int] = field(default_factory=dict)
    method: str = METHOD
    schema: int = SCHEMA

    @property
    def evidence(self) -> Evidence:
        """What the verdict rests on."""
        planned = tuple(
            Planned(
                slot.seq,
                slot.stage,
                slot.users_end,
                slot.planned_end - slot.planned_start - slot.discard,
                slot.arrivals.end if slot.arrivals else None,
            )
            for slot in self.timetable
            if slot.phase is Phase.STEADY
        )
        return Evidence(self.outcome, self.because, self.objectives, planned, self.windows, self.generator)

    @property
    def load_started(self) -> datetime | None:
        """When the first slot took effect."""
        return min((slot.started for slot in self.timetable if slot.started), default=None)

    @property
    def load_ended(self) -> datetime | None:
        """When the last slot ended."""
        return max((slot.ended for slot in self.timetable if slot.ended), default=None)


def slot_record(slot: Slot, times: SlotTimes | None) -> SlotRecord:
    """One slot's plan beside what happened."""
    return SlotRecord(
        slot.seq,
        slot.stage,
        slot.phase,
        slot.users_start,
        slot.users_end,
        slot.start.total_seconds(),
        slot.end.total_seconds(),
        slot.discard.total_seconds(),
        _instant(times.start if times else None),
        _instant(times.window_start if times else None),
        _instant(times.end if times else None),
        slot.arrivals,
    )


def _instant(epoch: float | None) -> datetime | None:
    return None if epoch is None else datetime.fromtimestamp(epoch, UTC)


_RECORD = TypeAdapter(RunRecord)


def to_json(record: RunRecord) -> bytes:
    """The record as JSON text ending in a newline.

    Raises `ValueError` if a number in it is not finite, `TypeError` if a fact of the fingerprint is no JSON value.
    """
    body = _RECORD.dump_python(record, mode="json")
    facts = {"fingerprint": _sorted(record.fingerprint), "extra": _sorted(record.extra)}
    ordered = {"schema": body.pop("schema"), **body, **facts}
    return json.dumps(ordered, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def from_json(text: bytes) -> RunRecord:
    """The record in a text. Raises `RecordError` for another version, broken JSON, or a value that does not fit."""
    try:
        body = json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        raise RecordError(f"could not read the record: it is not strict JSON: {error}") from error
    if not isinstance(body, dict) or "schema" not in body:
        raise RecordError("could not read the record: it has no schema version, so it is not one of ours")
    if body["schema"] != SCHEMA:
        raise RecordError(
            f"could not read the record: its schema is version {body['schema']}, this program knows {SCHEMA}; "
            "use the version of stagelight that wrote it"
        )
    try:
        return _RECORD.validate_python(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"could not read the record: {where}: {first['msg']}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _sorted(value: Any) -> Any:
    match value:
        case dict():
            return {key: _sorted(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [_sorted(item) for item in value]
        case _:
            return value
