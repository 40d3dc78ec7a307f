"""A workload that is somebody's locustfile: its keys, and the value that they become. The file is never run here."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from controller.plans.payload_files import check_file
from controller.plans.plan import Locustfile, Payloads, Workload
from controller.plans.problems import Findings
from controller.plans.readers import Json, Text
from controller.plans.tables import Fields, Key, ListOf, Record
from controller.plans.target import URL
from controller.plans.workload import WORKLOAD
from controller.plans.yaml_source import Node, Table

LONGEST_TASK = timedelta(seconds=30)
"""How long the end of a run waits for tasks of a locustfile unless the plan has a `drain_timeout`."""

_CODE_SAYS = ("stands beside locustfile, and the file says that itself", "remove it, or change the locustfile")
_MOST_CLASSES = 50


def _check(fields: Fields) -> None:
    text = fields.get("locustfile")
    if text is None:
        return
    if not text.endswith(".py"):
        fields.refuse("locustfile", f"{text} is not a Python file", "name one file that ends in .py")
        return
    try:
        check_file(fields.findings.folder / text)
    except ValueError as error:
        message, remedy = error.args
        fields.refuse("locustfile", f"{text} {message}", remedy)
    classes = fields.get("user_classes", ())
    for index, name in enumerate(classes):
        if name in classes[:index]:
            fields.refuse_item("user_classes", index, f"{name} stands there twice", "keep one")


def _build(fields: Fields) -> Workload:
    file = (fields.findings.folder / fields.get("locustfile")).resolve()
    own = Locustfile(file, fields.get("user_classes", ()), fields.get("host"))
    return Workload(Payloads(), timeout=LONGEST_TASK, locustfile=own)


LOCUSTFILE = Record(
    {
        "locustfile": Key(
            Text("a path", longest=1000),
            "Own Locust user classes, unchanged; relative to the plan.",
            required=True,
        ),
        "user_classes": Key(
            ListOf(Text("a class's name", pattern=r"[A-Za-z_][A-Za-z0-9_]*"), least=1, most=_MOST_CLASSES),
            "Which classes of the file are run (all).",
        ),
        "host": Key(URL, "Base address of all classes; without it their own, else target.rest."),
    },
    _build,
    _check,
    refused=dict.fromkeys(WORKLOAD.keys, _CODE_SAYS),
)


class _OwnOrOurs:
    """A workload with a `locustfile` has other keys than one without."""

    def read(self, node: Node, key: str, findings: Findings) -> Any:
        """What the fitting record reads."""
        own = isinstance(node, Table) and any(entry.key == "locustfile" for entry in node.entries)
        return (LOCUSTFILE if own else WORKLOAD).read(node, key, findings)

    def schema(self) -> Json:
        """One object of either form."""
        return {"oneOf": [WORKLOAD.schema(), LOCUSTFILE.schema()]}


ANY_WORKLOAD = _OwnOrOurs()
"""What one request is, or whose code says it."""


def written_file(fields: Fields) -> Path | None:
    """The locustfile as the plan writes it, so that a digest does not depend on where the plan lies."""
    text = fields.get("workload").get("locustfile")
    return None if text is None else Path(text)
