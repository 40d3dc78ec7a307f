"""A plan file becomes a `Plan`, or all of its problems at once, each with its line and what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from controller.plans.digest import digest_of
from controller.plans.locustfile import written_file
from controller.plans.payload_keys import written_paths
from controller.plans.plan import CANARY_PERIOD, Plan
from controller.plans.problems import Findings
from controller.plans.schema import PLAN
from controller.plans.tables import Fields
from controller.plans.text import read_text
from controller.plans.workers import Workers
from controller.plans.yaml_source import Node, Scalar, Table, parse


def load_plan(path: Path, base: Path | None = None) -> Plan:
    """Read, check and build. Raises `PlanError` with every problem; payload files are looked at, never read whole.

    Relative payload paths start at `base`, by default the plan's own folder.
    """
    text = read_text(path)
    findings = Findings(str(path), base or path.parent)
    root = parse(text, findings)
    if root is None or _is_foreign(root, findings):
        raise findings.error()
    fields = PLAN.read(root, "", findings)
    if findings.problems:
        raise findings.error()
    plan = _plan(fields, text, path)
    return replace(plan, digest=digest_of(plan, written_paths(fields), written_file(fields)))


def _is_foreign(root: Node, findings: Findings) -> bool:
    """A plan of another version: judging its keys by ours would only mislead."""
    for entry in root.entries if isinstance(root, Table) else ():
        version = entry.value
        if entry.key == "version" and isinstance(version, Scalar) and version.plain and version.text.isdecimal():
            if int(version.text) != 1:
                message = f"{version.text} is not supported: this Stagelight reads version 1"
                findings.problems.clear()
                findings.add(entry.line, "version", message, "write version: 1 and its keys, or update Stagelight")
            return int(version.text) != 1
    return False


def _plan(fields: Fields, text: str, path: Path) -> Plan:
    simple = {name: fields.get(name) for name in ("objectives", "stop_when", "drain_timeout")}
    schedule, workers = fields.get("schedule"), fields.get("workers", Workers(1))
    generator = fields.get("generator")
    return Plan(
        name=fields.get("name"),
        target=fields.get("target").built,
        workload=fields.get("workload").built,
        stages=tuple(stage.built for stage in fields.get("stages")),
        digest="",
        source=text,
        path=path.resolve(),
        schedule=schedule.built if schedule is not None else None,
        workers=workers.local + (workers.remote or 0),
        remote_workers=workers.remote,
        workers_auto=workers.auto,
        generator_limits=generator.built.limits if generator is not None else (),
        canary=generator.built.canary if generator is not None else CANARY_PERIOD,
        tags=tuple(dict.fromkeys(fields.get("tags", ()))),
        **{name: value for name, value in simple.items() if value is not None},
    )
