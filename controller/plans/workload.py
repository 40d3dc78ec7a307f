"""The workload of a plan: its keys, what must fit together, and the value that it becomes."""

from __future__ import annotations

from datetime import timedelta

from controller.plans.answer_rules import Degraded, Expected
from controller.plans.duration import format_duration
from controller.plans.header_text import check_header
from controller.plans.numbers import Duration, DurationOrPair, Whole
from controller.plans.payload_contents import Wanted, problems_in
from controller.plans.payload_files import check_jsonl
from controller.plans.payload_keys import PAYLOADS
from controller.plans.plan import Payloads, Workload
from controller.plans.readers import Choice, Text
from controller.plans.scalars import Flag, Real
from controller.plans.tables import Fields, Key, ListOf, Pairs, Record
from controller.plans.target import PATH

_ZERO = timedelta(0)
_MINUTES = timedelta(minutes=10)
_TIME = Duration(timedelta(milliseconds=1), _MINUTES)

METHODS = ("POST", "GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
"""Methods of a request to an http target."""

BODILESS = ("GET", "HEAD", "DELETE", "OPTIONS")
"""Methods that need no payload."""


def _check_degraded(fields: Fields) -> None:
    if ("field" in fields.lines) == ("header" in fields.lines):
        fields.findings.add(fields.line, fields.key, "needs a field or a header, and one only", "write one of the two")


_DEGRADED = Record(
    {
        "field": Key(Text("a field's name"), "A top-level field of the answer's JSON object."),
        "header": Key(Text("a header's name", pattern=r"[A-Za-z0-9-]+"), "A header of the answer."),
        "value": Key(Text("a value"), "What it says then; without it: whatever it says."),
    },
    lambda f: Degraded(**f.values),
    _check_degraded,
)


def _check_expected(fields: Fields) -> None:
    if (text := fields.get("file")) is not None:
        path = fields.findings.folder / text
        try:
            check_jsonl(path, 1)
        except ValueError as error:
            message, remedy = error.args
            fields.refuse("file", f"{text} {message}", remedy)
            return
        for one in problems_in("jsonl", path, Wanted(served=False, nan=True)):
            fields.refuse("file", f"{text}, {one.where}: {one.what}", one.remedy)


_EXPECTED = Record(
    {
        "file": Key(Text("a path", longest=1000), "JSON Lines: line n answers payload n of the pool.", required=True),
        "tolerance": Key(Real(0.0, 1.0), "Of numbers, absolute or relative (1e-6)."),
    },
    lambda f: Expected(**(f.values | {"file": (f.findings.folder / f.get("file")).resolve()})),
    _check_expected,
)


def _check(fields: Fields) -> None:
    method = fields.get("method", "POST")
    if "payloads" not in fields.lines and method not in BODILESS:
        fields.refuse("payloads", "is missing", "add it (What is sent)")
    timeout, connect = fields.get("timeout", timedelta(seconds=3)), fields.get("connect_timeout")
    if connect is not None and connect > timeout:
        message = f"{format_duration(connect)} is longer than the timeout of {format_duration(timeout)}"
        fields.refuse("connect_timeout", message, "shorten it, or raise timeout")
    if "pacing" in fields.lines and "think_time" in fields.lines:
        fields.refuse("pacing", "stands beside think_time", "keep one: pacing is from request to request")
    payloads = fields.get("payloads")
    if fields.get("expected") is not None and isinstance(payloads, Fields) and payloads.get("rows", 1) != 1:
        fields.refuse("expected", "has one answer a payload, and a request carries several", "set payloads.rows to 1")


def _build(fields: Fields) -> Workload:
    parts = {name: fields.get(name).built for name in ("payloads", "degraded", "expected") if name in fields.values}
    return Workload(**({"payloads": Payloads(body="")} | fields.values | parts))


WORKLOAD = Record(
    {
        "protocol": Key(Choice(("rest", "grpc")), "How requests are sent (rest)."),
        "client": Key(Choice(("lean", "fast")), "rest: our own client, or the one of Locust's FastHttpUser (lean)."),
        "payloads": Key(PAYLOADS, "What is sent; needed unless the method has no body."),
        "form": Key(Choice(("row", "column")), "tfserving: `instances` or `inputs` (row)."),
        "signature": Key(Text("a signature's name", pattern=r"[A-Za-z0-9_./-]+"), "tfserving: the model's signature."),
        "method": Key(Choice(METHODS), "http: the method of every request (POST)."),
        "path": Key(PATH, "http: the path that is asked for."),
        "headers": Key(Pairs(check_header), "Request headers; secrets as ${env:NAME} or ${file:/path}."),
        "timeout": Key(_TIME, "When a request is given up (3s)."),
        "connect_timeout": Key(_TIME, "When connecting is given up, inside the timeout (timeout)."),
        "max_answer": Key(Whole(1, 2**31 - 1), "Bytes of an answer's body beyond which it is given up (67108864)."),
        "think_time": Key(
            DurationOrPair(Duration(_ZERO, _MINUTES)), "A user's pause between requests, or [least, most] (0s)."
        ),
        "pacing": Key(Duration(timedelta(milliseconds=1), _MINUTES), "A user's time from request to request."),
        "connections": Key(Choice(("per_user", "shared")), "grpc: one connection a user, or one for all (per_user)."),
        "retries": Key(Whole(0, 10), "Further attempts of a failed request; each is counted (0)."),
        "status": Key(ListOf(Whole(200, 599), least=1, most=20), "Status codes of good answers ([200])."),
        "required_fields": Key(
            ListOf(Text("a field's name")), "Fields that an answer must have; tfserving's own unless told."
        ),
        "allow_nan": Key(Flag(), "Whether NaN and Infinity may stand in an answer (false)."),
        "expected": Key(_EXPECTED, "Known answers, for payloads in the order of their file."),
        "degraded": Key(_DEGRADED, "How the answer of a fallback is known; counted apart, as no error."),
    },
    _build,
    _check,
)
"""What one request is."""
