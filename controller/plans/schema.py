"""Every key of a plan in one table, what must fit together across the plan, and the whole as JSON Schema."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from controller.plans.criterion_text import parse_objective, parse_stop_rule
from controller.plans.generator import GENERATOR
from controller.plans.locustfile import ANY_WORKLOAD
from controller.plans.numbers import Duration, Whole
from controller.plans.plan import Schedule
from controller.plans.readers import Choice, Json, Text
from controller.plans.schedule import check_cron
from controller.plans.stages import STAGE
from controller.plans.tables import Key, ListOf, Record
from controller.plans.target import TARGET
from controller.plans.timetable import MAX_SPAN
from controller.plans.together import check_together
from controller.plans.workers import WORKERS

_ZERO = timedelta(0)


def _cron(text: str) -> str:
    try:
        check_cron(text)
    except ValueError as error:
        raise ValueError(f"{text} cannot be a schedule: {error}", "write five fields, such as 30 2 * * 1-5") from error
    return text


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{text} is not a time zone on this machine", "use a name such as Europe/Berlin") from error
    return text


_SCHEDULE = Record(
    {
        "cron": Key(
            Text("five cron fields", parse=_cron), "Minute, hour, day of month, month, weekday.", required=True
        ),
        "timezone": Key(Text("a time zone's name", parse=_zone), "IANA name; the cron's wall time.", required=True),
        "misfire": Key(Choice(("skip", "run_once")), "What to do after a due time was missed (skip)."),
        "grace": Key(Duration(_ZERO, MAX_SPAN), "How late a run may start and not count as missed (1m)."),
        "overlap": Key(Choice(("skip", "queue")), "What to do when another run holds the target (skip)."),
        "gap": Key(Choice(("skip", "run_at_gap_end")), "A wall time that a clock change leaves out (run_at_gap_end)."),
        "fold": Key(Choice(("first_only", "both")), "A wall time that a clock change repeats (first_only)."),
    },
    lambda f: Schedule(**f.values),
)

_OBJECTIVE = Text("an objective such as p99 <= 50ms", parse=parse_objective)
_STOP_RULE = Text("a stop rule such as error_ratio > 20% for 10s", parse=parse_stop_rule)

PLAN = Record(
    {
        "version": Key(Whole(1, 1), "Version of this form: 1.", required=True),
        "name": Key(Text("a name", longest=100), "What the plan is called.", required=True),
        "target": Key(TARGET, "The system under test.", required=True),
        "workload": Key(ANY_WORKLOAD, "What one request is, or whose code says it.", required=True),
        "workers": Key(WORKERS, "Generator processes (1); auto leaves a core to the rest."),
        "generator": Key(GENERATOR, "When the generator counts as saturated."),
        "stages": Key(ListOf(STAGE, least=1), "The load, stage after stage.", required=True),
        "objectives": Key(ListOf(_OBJECTIVE), "What every measured window must meet."),
        "stop_when": Key(ListOf(_STOP_RULE), "What ends a run early when it holds without a break."),
        "schedule": Key(_SCHEDULE, "When the plan is due."),
        "drain_timeout": Key(
            Duration(_ZERO, timedelta(minutes=10)), "How long to wait for the last answers (timeout + 2s)."
        ),
        "tags": Key(ListOf(Text("a tag", longest=100), most=20), "Tags for annotations and the record."),
    },
    lambda fields: fields,
    check_together,
    notes=True,
)
"""The whole file. Keys that start with `x-` are not read: they hold anchors."""


def json_schema() -> Json:
    """The form of a plan as JSON Schema, for editors. What depends on several keys is checked by the loader only."""
    head: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Stagelight plan",
        "description": "Keys, types and limits; `stagelight check` checks more.",
    }
    return head | PLAN.schema()
